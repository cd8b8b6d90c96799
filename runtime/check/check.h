// Can this model run here, and how? Reads the model's file and a report; loads no driver, and
// allocates nothing of the size of weights (of a GGUF file; an ONNX file is read whole).
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/check/check_record.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// A GGUF file. What cannot run is a finding of the record: an unknown architecture, tensor type or
// tokenizer, tensors that do not fit the architecture. An error: no file, or none that can be read.
// `report` may be null.
Result<CheckRecord> check_gguf(const std::string& path, const Report* report);

// An ONNX file. Where the model leaves extents of an input open and `shapes` does not name it,
// extents are tried until the model takes them, and a note says which. Findings: what clvet lacks;
// one for all nodes of an operator, those of subgraphs and functions, too. Where a file cannot be
// read to its end for that, it is the only finding, and no device is listed. kInvalidArgument: no
// file, no model, or no shapes that fit.
Result<CheckRecord> check_onnx(const std::string& path, const std::map<std::string, Shape>& shapes,
                               const Report* report);

}  // namespace clvet
