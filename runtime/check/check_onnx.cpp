#include "runtime/check/check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/check/check_record.h"
#include "runtime/check/checked_device.h"
#include "runtime/graph/extents.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/cut.h"
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

// Chooses what no name tells.
Result<std::map<std::string, Shape>> filled_in(const Graph& graph,
                                               const std::map<std::string, Shape>& given,
                                               int64_t extent) {
  std::map<std::string, Shape> shapes = given;
  CLVET_ASSIGN_OR_RETURN(NamedExtents extents, NamedExtents::of(graph, given));
  const auto choose = [&](bool sums) {
    for (const ValueId id : graph.inputs) {
      const Value& value = graph.values[static_cast<size_t>(id)];
      if (given.contains(value.name) || !is_open(value)) continue;
      Shape& shape = shapes.try_emplace(value.name, *value.shape).first->second;
      for (size_t i = 0; i < shape.size(); ++i) {
        shape = extents.filled(value, shape);
        const std::string name = value.extent_name(i);
        if (shape[i] >= 0 || (!sums && name.find('+') != std::string::npos)) continue;
        shape[i] = i == 0 ? 1 : extent;
        if (!name.empty()) extents.set(name, shape[i]);
      }
    }
  };
  choose(false);
  choose(true);  // sums of which a part has no value
  return shapes;
}

// The graph with all extents known, and a note of those that were chosen here.
Result<Graph> with_shapes(const Graph& graph, const std::map<std::string, Shape>& given,
                          CheckRecord& record) {
  Error last;
  for (const int64_t extent : kUsualExtents) {
    CLVET_ASSIGN_OR_RETURN(const auto shapes, filled_in(graph, given, extent));
    auto made = specialise(graph, shapes);
    if (made) {
      if (const Status folded = optimise(*made); !folded) made = tl::unexpected(folded.error());
    }
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
    if (last.code == ErrorCode::kUnsupported) return made;  // whatever the shapes are
    if (shapes.size() == given.size()) break;
  }
  return fail(ErrorCode::kInvalidArgument,
              "{}: clvet found no input shapes that fit the model; give --shape NAME=1x3x... ({})",
              record.model, last.message);
}

// Why clvet cannot run a node that has no definition; nothing where only a node in one of its
// subgraphs is at fault.
std::optional<std::string> lack_of(const Node& node) {
  const auto def = definition_of(node.domain, node.op, node.opset);
  if (!def) return def.error().message;
  const Status fits = check_node(**def, node);
  if (!fits) return fits.error().message;
  return std::nullopt;
}

// By value: whether a node that cannot run has a part in it.
std::vector<bool> never_made(const Graph& graph) {
  std::vector<bool> never(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    const bool waits = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId in) {
      return in != kNoValue && never[static_cast<size_t>(in)];
    });
    if (node.def && !waits) continue;
    for (const ValueId out : node.outputs)
      if (out != kNoValue) never[static_cast<size_t>(out)] = true;
  }
  return never;
}

// Nodes that read what follows from a parameter among the inputs, with its name. What such a node
// is made into before planning depends on it, too.
std::map<std::string, std::string> open_nodes(const Graph& graph) {
  std::vector<ValueId> by(graph.values.size(), kNoValue);
  for (const ValueId input : parameters_of(graph)) by[static_cast<size_t>(input)] = input;
  std::map<std::string, std::string> open;
  for (const Node& node : graph.nodes) {
    const auto decided = std::ranges::find_if(node.inputs, [&](ValueId in) {
      return in != kNoValue && by[static_cast<size_t>(in)] != kNoValue;
    });
    if (decided == node.inputs.end()) continue;
    const ValueId input = by[static_cast<size_t>(*decided)];
    open.try_emplace(node.name, graph.values[static_cast<size_t>(input)].name);
    for (const ValueId out : node.outputs)
      if (out != kNoValue) by[static_cast<size_t>(out)] = input;
  }
  return open;
}

// What `open` has of the node `name`, or of one that it is a part of.
std::optional<std::string> open_by(const std::map<std::string, std::string>& open,
                                   std::string name) {
  for (;;) {
    if (const auto found = open.find(name); found != open.end()) return found->second;
    const size_t end = name.rfind('/');
    if (end == std::string::npos) return std::nullopt;
    name.resize(end);
  }
}

std::vector<NodeCheck> nodes_of(const Graph& graph, const ExecutionPlan& plan,
                                const std::map<std::string, std::string>& open) {
  std::vector<NodeCheck> nodes;
  const PlanPhase& phase = plan.phases.front();
  const std::vector<std::string> variants = variants_of(phase);
  const std::vector<bool> never = never_made(graph);
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const PlannedNode& row = phase.nodes[i];
    const Node& own = graph.nodes[i];
    NodeCheck node{
        row.name,    row.op,     row.place == Place::kHost ? Where::kHost : Where::kOpenCl,
        variants[i], row.reason, row.untested};
    if (!own.def) {
      node.where = Where::kNeither;
      node.reason =
          lack_of(own).value_or("clvet does not support an operator in one of its subgraphs");
    } else if (!call_of(graph, own) &&
               std::any_of(own.inputs.begin(), own.inputs.end(), [&](ValueId in) {
                 return in != kNoValue && never[static_cast<size_t>(in)];
               })) {
      node.reason = "nothing is known of its inputs: a node before it cannot run";
    } else if (const auto input = open_by(open, own.name)) {
      node.reason = fmt::format("the values of input '{}' decide its place", *input);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<DeviceCheck> check_network(const Graph& whole,
                                  const std::map<std::string, std::string>& open,
                                  const CheckedDevice& device) {
  DeviceCheck check = device.described();
  Graph graph = whole;
  CLVET_RETURN_IF_ERROR(expand_composites(graph));
  auto plan = plan_network(graph, *device.chooser, PlanOverrides{});
  if (!plan && !cannot_run_here(plan.error().code)) return tl::unexpected(plan.error());
  if (plan) check.combination = plan->combination;
  check.nodes = nodes_of(graph, plan ? *plan : plan_on_host(graph, plan.error().message), open);
  const bool untested = std::any_of(check.nodes.begin(), check.nodes.end(),
                                    [](const NodeCheck& node) { return node.untested; });
  if (untested || (!plan && plan.error().code == ErrorCode::kUntested)) {
    check.advice.emplace_back(kAdviceToProbe);
  }
  return check;
}

// The nodes that want for the same.
struct Lack {
  std::string op, reason, first;
  int nodes = 0;
};

// Those in subgraphs, too; `path` leads to the graph.
void find_lacks(const Graph& graph, const std::string& path, std::vector<Lack>& lacks) {
  for (const Node& node : graph.nodes) {
    if (node.def) continue;
    const std::string name = path + node.name;
    for (const auto& [key, inner] : node.graphs())
      find_lacks(*inner, fmt::format("{}/{}/", name, key), lacks);
    const auto reason = lack_of(node);
    if (!reason) continue;
    const std::string op = node.domain.empty() ? node.op : node.domain + "::" + node.op;
    auto row = std::find_if(lacks.begin(), lacks.end(), [&](const Lack& lack) {
      return lack.op == op && lack.reason == *reason;
    });
    if (row == lacks.end()) row = lacks.insert(row, {op, *reason, name});
    ++row->nodes;
  }
}

std::string finding_of(const Lack& lack) {
  if (lack.nodes == 1) return fmt::format("node '{}' ({}): {}", lack.first, lack.op, lack.reason);
  return fmt::format("{} nodes ({}), the first is '{}': {}", lack.nodes, lack.op, lack.first,
                     lack.reason);
}

// What clvet lacks is a finding; what is wrong with the file stays an error.
Status found(Error error, CheckRecord& record) {
  if (error.code != ErrorCode::kUnsupported) return tl::unexpected<Error>(std::move(error));
  record.findings.push_back(std::move(error.message));
  return {};
}

void note_rest(const Graph& graph, CheckRecord& record) {
  const auto cut = cut_at_unknown_shapes(graph);
  if (!cut) return;
  record.notes.push_back(fmt::format(
      "{} nodes have shapes that follow from values which the network computes: they are "
      "listed for the host, and 'clvet run' plans them once these values are there",
      cut->rest.graph.nodes.size()));
}

void note_parameters(const Graph& graph, CheckRecord& record) {
  std::vector<std::string> names;
  for (const ValueId input : parameters_of(graph))
    names.push_back(graph.values[static_cast<size_t>(input)].name);
  if (names.empty()) return;
  record.notes.push_back(
      fmt::format("where nodes run, and whether they can, depends on the values of '{}', which "
                  "'clvet run' knows and this list does not",
                  fmt::join(names, "', '")));
}

Status check_devices(const Graph& graph, const Report* report, CheckRecord& record) {
  CLVET_ASSIGN_OR_RETURN(const auto devices, checked_devices(report));
  for (std::string& note : notes_on(report)) record.notes.push_back(std::move(note));
  const auto open = open_nodes(graph);
  for (const CheckedDevice& device : devices) {
    CLVET_ASSIGN_OR_RETURN(DeviceCheck check, check_network(graph, open, device));
    record.devices.push_back(std::move(check));
  }
  return {};
}

}  // namespace

Result<CheckRecord> check_onnx(const std::string& path, const std::map<std::string, Shape>& shapes,
                               const Report* report) {
  CheckRecord record;
  record.model = path;
  record.format = "onnx";
  auto graph = read_onnx(path, {.allow_unknown_ops = true});
  if (!graph) return found(graph.error(), record).map([&] { return record; });
  std::vector<Lack> lacks;
  find_lacks(*graph, "", lacks);
  for (const Lack& lack : lacks) record.findings.push_back(finding_of(lack));
  const auto given = take_extents(*graph, shapes);
  const Status folded = optimise(*graph);
  if (!folded) return found(folded.error(), record).map([&] { return record; });
  const auto shaped = with_shapes(*graph, given, record);
  if (!shaped) return found(shaped.error(), record).map([&] { return record; });
  note_rest(*shaped, record);
  note_parameters(*shaped, record);
  CLVET_RETURN_IF_ERROR(check_devices(*shaped, report, record));
  return record;
}

}  // namespace clvet
