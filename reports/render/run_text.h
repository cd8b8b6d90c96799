// A run record for a person at a terminal.
#pragma once

#include <map>
#include <string>

#include "runtime/graph/tensor.h"
#include "runtime/run/run_record.h"

namespace clvet {

// One line on where and how fast; with `explain`, one line a node.
std::string run_text(const RunRecord& record, bool explain);

// The `count` largest values along the last axis of the first output's first row, with their
// indices.
std::string top_text(const std::map<std::string, Tensor>& outputs, int count);

// One line an output, in the order of their names: name, type, shape and its first values, floats
// with five digits. Of more than twenty outputs the rest is counted.
std::string outputs_text(const std::map<std::string, Tensor>& outputs);

// One line a decoded text, with its score.
std::string decoded_text(const RunRecord& record);

}  // namespace clvet
