#include "cli/step_options.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "runtime/media/npy.h"
#include "runtime/run/steps.h"

namespace clvet {
namespace {

// Both sides of '='; nothing where one is empty.
std::optional<std::pair<std::string, std::string>> sides_of(const std::string& text,
                                                            size_t equals) {
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

void add_steps(Verb verb, StepArguments& arguments) {
  verb.add_option("--feedback", arguments.feedback,
                  "give what this output holds to this input of the next step")
      .type_name("OUTPUT=INPUT");
  verb.add_option("--series", arguments.series,
                  "an input with one value for each step, along the first axis of the file")
      .type_name("NAME=FILE.npy");
  verb.add_option("--steps", arguments.count, "steps, where no --series tells their number")
      .within(1, 1000000)
      .type_name("N");
}

Result<std::optional<StepOptions>> read_steps(const StepArguments& arguments) {
  if (arguments.feedback.empty() && arguments.series.empty() && arguments.count == 0)
    return std::nullopt;
  StepOptions options;
  for (const std::string& text : arguments.feedback) {
    auto sides = sides_of(text, text.rfind('='));
    if (!sides)
      return fail(ErrorCode::kInvalidArgument, "--feedback '{}' is not OUTPUT=INPUT", text);
    if (!options.feedback.insert(std::move(*sides)).second)
      return fail(ErrorCode::kInvalidArgument, "--feedback '{}': the output is named before", text);
  }
  for (const std::string& text : arguments.series) {
    const auto sides = sides_of(text, text.find('='));
    if (!sides)
      return fail(ErrorCode::kInvalidArgument, "--series '{}' is not NAME=FILE.npy", text);
    CLVET_ASSIGN_OR_RETURN(options.series[sides->first], read_npy(sides->second));
  }
  if (arguments.count > 0 && !options.series.empty())
    return fail(ErrorCode::kInvalidArgument, "--steps: the series tells how many there are");
  if (arguments.count > 0) options.count = arguments.count;
  return options;
}

}  // namespace clvet
