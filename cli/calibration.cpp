#include "cli/calibration.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "cli/input_files.h"
#include "cli/model_inputs.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/precision/diagnose_network.h"

namespace clvet {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(".")) entries.push_back(at->path());
  }
  if (error) {
    return fail(ErrorCode::kInvalidArgument, "the folder '{}' cannot be read: {}", folder.string(),
                error.message());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

// --input options for one set.
Result<std::vector<std::string>> options_of(const fs::path& entry, const Graph& graph) {
  std::error_code error;
  if (!fs::is_directory(entry, error)) {
    if (graph.inputs.size() == 1) return std::vector{entry.string()};
    return fail(ErrorCode::kInvalidArgument,
                "the model takes {} inputs: make a folder for each set, with a file named after "
                "each input",
                graph.inputs.size());
  }
  std::vector<std::string> options;
  CLVET_ASSIGN_OR_RETURN(const auto files, entries_of(entry));
  for (const fs::path& file : files) options.push_back(file.stem().string() + "=" + file.string());
  return options;
}

Result<CalibrationInput> read_set(const fs::path& entry, InputArguments arguments,
                                  const Graph& graph, std::vector<std::string>& warnings) {
  CLVET_ASSIGN_OR_RETURN(arguments.files, options_of(entry, graph));
  CalibrationInput input{entry.filename().string(), {}};
  Notes notes;
  CLVET_ASSIGN_OR_RETURN(input.values, read_inputs(arguments, graph, notes));
  for (const Event& note : notes)
    if (note.level == EventLevel::kWarning) warnings.push_back(note.text);
  CLVET_RETURN_IF_ERROR(check_inputs(graph, input.values));
  return input;
}

// Where the shapes of a set are not those of the first one; empty: nowhere.
std::string difference(const CalibrationInput& first, const CalibrationInput& other) {
  for (const auto& [name, tensor] : first.values) {
    const Tensor& own = other.values.at(name);
    if (own.type() == tensor.type()) continue;
    return fmt::format("'{}' is {}, but {} has {}", name, to_string(own.type()), first.name,
                       to_string(tensor.type()));
  }
  return {};
}

}  // namespace

Status take_entries(const fs::path& folder, const TakeEntry& take,
                    std::vector<std::string>& left_out) {
  CLVET_ASSIGN_OR_RETURN(const auto entries, entries_of(folder));
  for (const fs::path& entry : entries) {
    if (const Status taken = take(entry); !taken)
      left_out.push_back(fmt::format("{} is left out: {}", entry.string(), taken.error().message));
  }
  return {};
}

tl::unexpected<Error> nothing_taken(const fs::path& folder,
                                    const std::vector<std::string>& left_out) {
  if (left_out.empty())
    return fail(ErrorCode::kInvalidArgument, "the folder '{}' is empty", folder.string());
  return fail(ErrorCode::kInvalidArgument, "no file of '{}' can be used: {}", folder.string(),
              left_out.front());
}

Result<std::vector<CalibrationInput>> read_calibration(const std::string& folder,
                                                       const InputArguments& arguments,
                                                       const Graph& graph,
                                                       std::vector<std::string>& left_out) {
  std::vector<CalibrationInput> inputs;
  const auto take = [&](const fs::path& entry) -> Status {
    CLVET_ASSIGN_OR_RETURN(CalibrationInput input, read_set(entry, arguments, graph, left_out));
    const std::string other = inputs.empty() ? "" : difference(inputs.front(), input);
    if (!other.empty()) return fail(ErrorCode::kInvalidArgument, "{}", other);
    inputs.push_back(std::move(input));
    return {};
  };
  CLVET_RETURN_IF_ERROR(take_entries(folder, take, left_out));
  if (inputs.empty()) return nothing_taken(folder, left_out);
  return inputs;
}

}  // namespace clvet
