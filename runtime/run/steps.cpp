#include "runtime/run/steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/doubt.h"
#include "runtime/run/open_network.h"

namespace clvet {
namespace {

std::string names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(graph.values[static_cast<size_t>(id)].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Value* value_named(const Graph& graph, const std::vector<ValueId>& ids,
                         const std::string& name) {
  for (const ValueId id : ids) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    if (value.name == name) return &value;
  }
  return nullptr;
}

Result<const Value*> input_named(const Graph& graph, const std::string& name) {
  if (const Value* value = value_named(graph, graph.inputs, name)) return value;
  return fail(ErrorCode::kInvalidArgument, "the model has no input '{}'; it takes {}", name,
              names_of(graph, graph.inputs));
}

bool is_closed(const Value& value) {
  const auto type = value.type();
  return type && std::ranges::all_of(type->shape, [](int64_t extent) { return extent >= 0; });
}

int64_t steps_of(const StepOptions& options) {
  return options.series.empty() ? options.count : options.series.begin()->second.dim(0);
}

Status check_series(const StepOptions& options) {
  for (const auto& [name, tensor] : options.series) {
    if (tensor.rank() == 0 || tensor.dim(0) == 0)
      return fail(ErrorCode::kInvalidArgument,
                  "the series of input '{}' has no steps; its first axis counts them", name);
    if (tensor.dim(0) == steps_of(options)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "the series of input '{}' has {} steps, but that of '{}' has {}", name,
                tensor.dim(0), options.series.begin()->first, steps_of(options));
  }
  return {};
}

// The part of a series that one step gets.
Result<Tensor> step_of(const Tensor& series, int64_t step) {
  Shape shape = series.shape();
  shape.erase(shape.begin());
  CLVET_ASSIGN_OR_RETURN(Tensor part, Tensor::create(series.dtype(), shape));
  std::memcpy(part.raw(), series.raw() + static_cast<size_t>(step) * part.bytes(), part.bytes());
  return part;
}

Result<Tensor> joined(const std::vector<Tensor>& parts) {
  Shape shape = parts.front().shape();
  shape.insert(shape.begin(), static_cast<int64_t>(parts.size()));
  CLVET_ASSIGN_OR_RETURN(Tensor whole, Tensor::create(parts.front().dtype(), shape));
  std::byte* to = whole.raw();
  for (const Tensor& part : parts) {
    std::memcpy(to, part.raw(), part.bytes());
    to += part.bytes();
  }
  return whole;
}

bool same_types(const std::vector<Tensor>& parts) {
  return std::ranges::all_of(
      parts, [&](const Tensor& part) { return part.type() == parts.front().type(); });
}

}  // namespace

Result<std::vector<std::string>> inputs_of_steps(const Graph& graph, const StepOptions& options) {
  CLVET_RETURN_IF_ERROR(check_series(options));
  std::vector<std::string> served;
  for (const auto& [name, tensor] : options.series) {
    CLVET_RETURN_IF_ERROR(input_named(graph, name).map([](const Value*) {}));
    served.push_back(name);
  }
  std::set<std::string> fed;
  for (const auto& [output, input] : options.feedback) {
    if (!value_named(graph, graph.outputs, output))
      return fail(ErrorCode::kInvalidArgument, "the model has no output '{}'; it makes {}", output,
                  names_of(graph, graph.outputs));
    CLVET_ASSIGN_OR_RETURN(const Value* to, input_named(graph, input));
    if (!fed.insert(input).second || options.series.contains(input))
      return fail(ErrorCode::kInvalidArgument, "input '{}' would get two values in each step",
                  input);
    if (is_closed(*to)) served.push_back(input);
  }
  return served;
}

Result<StepAnswers> run_steps(OpenNetwork& network, const std::map<std::string, Tensor>& inputs,
                              const StepOptions& options) {
  StepAnswers answers;
  answers.inputs = inputs;
  for (const auto& [output, input] : options.feedback) {
    if (answers.inputs.contains(input)) continue;
    CLVET_ASSIGN_OR_RETURN(const Value* to, input_named(network.graph(), input));
    CLVET_ASSIGN_OR_RETURN(answers.inputs[input], Tensor::create(*to->dtype, *to->shape));
  }
  std::map<std::string, std::vector<Tensor>> made;
  for (int64_t step = 0; step < steps_of(options); ++step) {
    for (const auto& [name, series] : options.series) {
      CLVET_ASSIGN_OR_RETURN(answers.inputs[name], step_of(series, step));
    }
    const double started = monotonic_seconds();
    auto outputs = network.run(answers.inputs);
    if (!outputs) return wrap(outputs.error(), fmt::format("step {}", step + 1));
    if (step > 0) answers.ms.push_back(ms_since(started));
    for (const auto& [output, input] : options.feedback)
      answers.inputs[input] = outputs->at(output);
    for (auto& [name, tensor] : *outputs) {
      auto& parts = made[name];
      if (options.feedback.contains(name)) parts.clear();
      parts.push_back(std::move(tensor));
    }
  }
  for (auto& [name, parts] : made) {
    const bool fed = options.feedback.contains(name);
    if (!fed && !same_types(parts)) answers.changing.push_back(name);
    if (fed || !same_types(parts)) {
      answers.outputs[name] = std::move(parts.back());
    } else {
      CLVET_ASSIGN_OR_RETURN(answers.outputs[name], joined(parts));
    }
  }
  return answers;
}

}  // namespace clvet
