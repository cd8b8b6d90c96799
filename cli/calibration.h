// The inputs that a model is measured with.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/model_inputs.h"
#include "runtime/graph/graph.h"
#include "runtime/precision/diagnose_network.h"

namespace clvet {

// Gives `take` what a folder holds, in the order of the names, hidden files apart. Where `take`
// fails, `left_out` gets a sentence that names the entry and the reason. kInvalidArgument: the
// folder cannot be read.
using TakeEntry = std::function<Status(const std::filesystem::path& entry)>;
Status take_entries(const std::filesystem::path& folder, const TakeEntry& take,
                    std::vector<std::string>& left_out);
// The error of a folder of which nothing was taken.
tl::unexpected<Error> nothing_taken(const std::filesystem::path& folder,
                                    const std::vector<std::string>& left_out);

// The sets of inputs in `folder`, as take_entries() has them. For a model with one input, each file
// (.npy, .png, .jpg, .wav, raw) is a set. For any model, each folder in it is a set: it has one
// file for each input, named after the input ("x.npy"). `left_out` also gets the warnings about
// files that are taken. kInvalidArgument: there is no set that can be used.
Result<std::vector<CalibrationInput>> read_calibration(const std::string& folder,
                                                       const InputArguments& arguments,
                                                       const Graph& graph,
                                                       std::vector<std::string>& left_out);

}  // namespace clvet
