#include "runtime/run/model_plan.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/graph/extents.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/language_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_json.h"
#include "runtime/plan/planner.h"

namespace clvet {
namespace {

// With all shapes known.
Status settle(Graph& graph, std::map<std::string, Shape> shapes,
              const std::map<std::string, Tensor>& values) {
  if (!values.empty()) CLVET_RETURN_IF_ERROR(check_inputs(graph, values));
  shapes = take_extents(graph, std::move(shapes));
  for (const auto& [name, tensor] : values) shapes[name] = tensor.shape();
  CLVET_RETURN_IF_ERROR(optimise(graph));
  CLVET_ASSIGN_OR_RETURN(graph, specialise(graph, shapes, values));
  CLVET_RETURN_IF_ERROR(optimise(graph));
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    if (value.type() && checked_elements(*value.shape)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "the extents of input '{}' are open: give its shape ({}=1x3x...) or its values",
                value.name, value.name);
  }
  return {};
}

}  // namespace

Result<ExecutionPlan> plan_onnx(Graph graph, std::map<std::string, Shape> shapes,
                                const std::map<std::string, Tensor>& values,
                                const NetworkPlanRequest& request) {
  CLVET_RETURN_IF_ERROR(settle(graph, std::move(shapes), values));
  CLVET_ASSIGN_OR_RETURN(NetworkPlan made, plan_network_on(graph, request));
  return std::move(made.plan);
}

Result<ExecutionPlan> plan_gguf(const std::string& path, const NetworkPlanRequest& request) {
  if (!request.report) {
    return fail(ErrorCode::kInvalidArgument,
                "device host: the host runs every language model alike and needs no plan");
  }
  CLVET_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
  CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
  const LlmWeights weights(file, config);
  CLVET_ASSIGN_OR_RETURN(PlannedDevices found, plan_language_on(config, weights,
                                                                {*request.report, request.device,
                                                                 request.words, request.model}));
  if (!found.rows.empty()) return std::move(found.rows.front().plan);
  return fail(ErrorCode::kUnavailable, "no device can run the model ({})", found.reason);
}

Result<std::string> plan_document(const ExecutionPlan& plan) {
  std::string json = plan_to_json(plan);
  const auto read = plan_from_json(json, "plan");
  const std::string lost = read ? first_difference(plan, *read) : read.error().message;
  if (!lost.empty()) return fail(ErrorCode::kInternal, "the plan's file would lose: {}", lost);
  return json;
}

}  // namespace clvet
