// The inputs that a model is measured with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/model_inputs.h"
#include "runtime/graph/graph.h"
#include "runtime/precision/diagnose_network.h"

namespace clvet {

// What a folder holds, in the order of the names; hidden files are left out.
Result<std::vector<std::filesystem::path>> entries_of(const std::filesystem::path& folder);

// From `folder`: of a model with one input each file (.npy, .png, .jpg, raw) is a set; of any
// model each folder within it is one, which holds a file named after each input ("x.npy"). In the
// order of the names. What cannot be read is told by name and left out; kInvalidArgument where
// nothing is left.
Result<std::vector<CalibrationInput>> read_calibration(const std::string& folder,
                                                       const InputArguments& arguments,
                                                       const Graph& graph,
                                                       std::vector<std::string>& left_out);

}  // namespace clvet
