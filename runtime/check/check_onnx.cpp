#include "runtime/check/check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/check/check_record.h"
#include "runtime/check/checked_device.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/onnx/reader.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"

namespace clvet {
namespace {

// Extents for open axes but the first, which is 1: what pictures, lines of text and samples of
// sound often have.
constexpr std::array<int64_t, 5> kUsualExtents = {320, 64, 512, 576, 1};

bool is_open(const Value& value) {
  return value.shape && std::any_of(value.shape->begin(), value.shape->end(),
                                    [](int64_t extent) { return extent < 0; });
}

std::map<std::string, Shape> filled_in(const Graph& graph,
                                       const std::map<std::string, Shape>& given, int64_t extent) {
  std::map<std::string, Shape> shapes = given;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    if (given.contains(value.name) || !is_open(value)) continue;
    Shape shape = *value.shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) shape[i] = i == 0 ? 1 : extent;
    }
    shapes[value.name] = shape;
  }
  return shapes;
}

// The graph with all extents known, and a note of those that were chosen here.
Result<Graph> with_shapes(const Graph& graph, const std::map<std::string, Shape>& given,
                          CheckRecord& record) {
  Error last;
  for (const int64_t extent : kUsualExtents) {
    const auto shapes = filled_in(graph, given, extent);
    auto made = specialise(graph, shapes);
    if (made) CLVET_RETURN_IF_ERROR(optimise(*made));
    if (made) {
      for (const auto& [name, shape] : shapes) {
        if (given.contains(name)) continue;
        record.notes.push_back(
            fmt::format("the model leaves the shape of input '{}' open; it was checked as {} (to "
                        "choose another shape: --shape {}={})",
                        name, to_string(shape), name, fmt::join(shape, "x")));
      }
      return made;
    }
    last = made.error();
    if (shapes.size() == given.size()) break;
  }
  return fail(ErrorCode::kInvalidArgument,
              "{}: clvet found no input shapes that fit the model; give --shape NAME=1x3x... ({})",
              record.model, last.message);
}

std::vector<NodeCheck> nodes_of(const Graph& graph, const ExecutionPlan& plan) {
  std::vector<NodeCheck> nodes;
  const PlanPhase& phase = plan.phases.front();
  const std::vector<std::string> variants = variants_of(phase);
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const PlannedNode& row = phase.nodes[i];
    NodeCheck node{
        row.name,    row.op,     row.place == Place::kHost ? Where::kHost : Where::kOpenCl,
        variants[i], row.reason, row.untested};
    if (!graph.nodes[i].def) {
      node.where = Where::kNeither;
      node.reason =
          find_op(graph.nodes[i].domain, graph.nodes[i].op) && !graph.nodes[i].graphs().empty()
              ? "clvet does not support an operator in one of its subgraphs"
              : "clvet does not support this operator";
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<DeviceCheck> check_network(const Graph& whole, const CheckedDevice& device) {
  DeviceCheck check = device.described();
  Graph graph = whole;
  CLVET_RETURN_IF_ERROR(expand_composites(graph));
  auto plan = plan_network(graph, *device.chooser, PlanOverrides{});
  if (!plan && !cannot_run_here(plan.error().code)) return tl::unexpected(plan.error());
  if (plan) check.combination = plan->combination;
  check.nodes = nodes_of(graph, plan ? *plan : plan_on_host(graph, plan.error().message));
  const bool untested = std::any_of(check.nodes.begin(), check.nodes.end(),
                                    [](const NodeCheck& node) { return node.untested; });
  if (untested || (!plan && plan.error().code == ErrorCode::kUntested)) {
    check.advice.emplace_back(kAdviceToProbe);
  }
  return check;
}

std::string unknown_operator(const Node& node) {
  if (node.domain.empty()) {
    return fmt::format("{}: clvet does not support the operator {}; export the model without it",
                       node.label(), node.op);
  }
  return fmt::format(
      "{}: clvet does not support the operator {} of the domain {}; export the model without it",
      node.label(), node.op, node.domain);
}

// Those in subgraphs, too; `path` leads to the graph.
void find_unknown(const Graph& graph, const std::string& path, CheckRecord& record) {
  for (Node node : graph.nodes) {
    if (node.def) continue;
    node.name = path + node.name;
    const size_t before = record.findings.size();
    for (const auto& [name, inner] : node.graphs()) {
      find_unknown(*inner, fmt::format("{}/{}/", node.name, name), record);
    }
    const bool only_inside = record.findings.size() > before && find_op(node.domain, node.op);
    if (!only_inside) record.findings.push_back(unknown_operator(node));
  }
}

}  // namespace

Result<CheckRecord> check_onnx(const std::string& path, const std::map<std::string, Shape>& shapes,
                               const Report* report) {
  CLVET_ASSIGN_OR_RETURN(Graph graph, read_onnx(path, {.allow_unknown_ops = true}));
  CheckRecord record;
  record.model = path;
  record.format = "onnx";
  find_unknown(graph, "", record);
  CLVET_RETURN_IF_ERROR(optimise(graph));
  CLVET_ASSIGN_OR_RETURN(graph, with_shapes(graph, shapes, record));
  CLVET_ASSIGN_OR_RETURN(const auto devices, checked_devices(report));
  for (std::string& note : notes_on(report)) record.notes.push_back(std::move(note));
  for (const CheckedDevice& device : devices) {
    CLVET_ASSIGN_OR_RETURN(DeviceCheck check, check_network(graph, device));
    record.devices.push_back(std::move(check));
  }
  return record;
}

}  // namespace clvet
