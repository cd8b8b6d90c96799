// The failing part of a network as files that others can run.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/failing_part.h"
#include "runtime/precision/number_format.h"

namespace clvet {

// Makes the folder; says whether save_failing() will be able to write there.
Status check_failing_folder(const std::string& folder);

// Writes failing.onnx, inputs/*.npy and outputs/*.npy into the folder.
Result<FailingFiles> save_failing(const FailingPart& part, Policy policy, NumberFormat format,
                                  const std::string& folder);

}  // namespace clvet
