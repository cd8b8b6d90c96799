#include "cli/step_options.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/input_files.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "runtime/media/sound_input.h"
#include "runtime/run/steps.h"

namespace clvet {
namespace {

// Both sides of '='; nothing where one is empty.
std::optional<std::pair<std::string, std::string>> sides_of(const std::string& text,
                                                            size_t equals) {
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

bool is_sound(const std::string& path) {
  const auto kind = kind_of_input(path);
  return kind && *kind == InputFile::kSound;
}

Status check_counts(const StepArguments& arguments, bool sound) {
  if (arguments.count > 0 && !arguments.series.empty())
    return fail(ErrorCode::kInvalidArgument, "--steps: the series tells how many there are");
  if (!sound && (arguments.chunk > 0 || arguments.overlap > 0))
    return fail(ErrorCode::kInvalidArgument,
                "--chunk and --chunk-overlap are for a series of sound: --series NAME=FILE.wav");
  return {};
}

Result<Tensor> read_series(const StepArguments& arguments, const std::string& path,
                           const Value& input, int sample_rate, Notes& notes) {
  CLVET_ASSIGN_OR_RETURN(const InputFile kind, kind_of_input(path));
  if (kind != InputFile::kSound) return read_npy(path);
  CLVET_ASSIGN_OR_RETURN(const Tensor samples, read_sound(path, sample_rate, notes));
  CLVET_ASSIGN_OR_RETURN(SoundInput series,
                         sound_series(samples, input, {arguments.chunk, arguments.overlap}, path));
  note_padding(path, series.padding, notes);
  return std::move(series.value);
}

}  // namespace

void add_steps(Verb verb, StepArguments& arguments) {
  verb.add_option("--feedback", arguments.feedback,
                  "give what this output holds to this input of the next step")
      .type_name("OUTPUT=INPUT");
  verb.add_option("--series", arguments.series,
                  "an input with one value for each step: a .npy file, along its first axis, or "
                  "a .wav\nfile, cut into chunks")
      .type_name("NAME=FILE");
  verb.add_option("--chunk", arguments.chunk,
                  "samples of a .wav series that a step takes, where the model leaves it open")
      .within(1, 1 << 30)
      .type_name("N");
  verb.add_option("--chunk-overlap", arguments.overlap,
                  "how many of these are the last ones of the step before (first step: zeros)")
      .within(0, 1 << 30)
      .type_name("N");
  verb.add_option("--steps", arguments.count, "steps, where no --series tells their number")
      .within(1, 1000000)
      .type_name("N");
}

Result<std::optional<StepOptions>> read_steps(const StepArguments& arguments, const Graph& graph,
                                              int sample_rate, Notes& notes) {
  const bool sound = std::ranges::any_of(arguments.series, is_sound);
  CLVET_RETURN_IF_ERROR(check_counts(arguments, sound));
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
    if (!sides) return fail(ErrorCode::kInvalidArgument, "--series '{}' is not NAME=FILE", text);
    CLVET_ASSIGN_OR_RETURN(const Value* input, input_named(graph, sides->first));
    if (options.series.contains(sides->first))
      return fail(ErrorCode::kInvalidArgument, "--series: '{}' is given twice; leave one out",
                  sides->first);
    CLVET_ASSIGN_OR_RETURN(options.series[sides->first],
                           read_series(arguments, sides->second, *input, sample_rate, notes));
  }
  if (arguments.count > 0) options.count = arguments.count;
  return options;
}

}  // namespace clvet
