#include "tests/conformance/run_case.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/cut.h"
#include "runtime/infer/infer.h"
#include "runtime/onnx/reader.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run_model.h"
#include "runtime/run/run_record.h"
#include "tests/conformance/by_design.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/suite.h"

namespace clvet::conformance {
namespace {

using Tensors = std::map<std::string, Tensor>;

std::string data_file(const Case& test, const char* stem, size_t index) {
  return fmt::format("{}/test_data_set_0/{}_{}.pb", test.folder, stem, index);
}

Result<Tensors> read_tensors(const Case& test, const char* stem, const Graph& graph,
                             const std::vector<ValueId>& ids) {
  Tensors tensors;
  for (size_t i = 0; i < ids.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(tensors[graph.values[static_cast<size_t>(ids[i])].name],
                           read_onnx_tensor(data_file(test, stem, i)));
  }
  return tensors;
}

// The operators that the reader does not know, subgraphs not included.
std::vector<Blame> unknown_operators(const Case& test) {
  OnnxOptions options;
  options.allow_unknown_ops = true;
  std::vector<Blame> blames;
  const auto graph = read_onnx(test.folder + "/model.onnx", options);
  if (!graph) return blames;
  std::set<std::string> names;
  for (const Node& node : graph->nodes) {
    if (!node.def) names.insert(node.op);
  }
  for (const std::string& name : names) blames.push_back({name, "no such operator"});
  return blames;
}

std::vector<Blame> blame_all(const Case& test, const std::string& why) {
  std::vector<Blame> blames;
  for (const std::string& op : test.operators) blames.push_back({op, why});
  return blames;
}

// The operator that the message names as "(Operator)", or all.
std::vector<Blame> blame_named(const Case& test, const std::string& message) {
  for (const std::string& op : test.operators) {
    if (message.find("(" + op + ")") != std::string::npos) return {{op, message}};
  }
  return blame_all(test, message);
}

CaseResult unsupported(const Case& test, const Error& error) {
  const std::string file = test.folder + "/model.onnx: ";
  const std::string message =
      error.message.starts_with(file) ? error.message.substr(file.size()) : error.message;
  CaseResult result{test.name, kUnsupported, message, unknown_operators(test)};
  if (result.blames.empty()) result.blames = blame_named(test, message);
  return result;
}

std::vector<DType> types_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<DType> types;
  for (const ValueId id : ids) {
    if (id == kNoValue) continue;
    // An open type counts as a float: it proves nothing.
    types.push_back(graph.values[static_cast<size_t>(id)].dtype.value_or(DType::kF32));
  }
  return types;
}

std::string why_on_host(const Graph& graph, const Node& node, const std::string& recorded) {
  const auto call = call_of(graph, node);
  if (!call) return recorded;
  const Lowering lowering = lower_node(*call, View::kChannelsFirst);
  if (lowering.kind == LoweringKind::kHost) return lowering.reason;
  if (lowering.kind == LoweringKind::kAlias) return "it is a view of a tensor on the host";
  return recorded;
}

// Where the nodes of the planned graph ran. The graph is prepared as run_model prepares it, so that
// its nodes have the names that the record has.
Result<std::vector<Blame>> nodes_on_host(Graph graph, const Tensors& inputs,
                                         const RunRecord& record, const HostByDesign& by_design,
                                         int& on_device) {
  CLVET_RETURN_IF_ERROR(optimise(graph));
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape();
  CLVET_ASSIGN_OR_RETURN(graph, specialise(graph, shapes, inputs));
  CLVET_RETURN_IF_ERROR(optimise(graph));
  // Of a rest, what is known in the middle of a run makes other nodes.
  const bool has_rest = cut_at_unknown_shapes(graph).has_value();
  if (record.device != "host") CLVET_RETURN_IF_ERROR(expand_composites(graph));
  std::map<std::string, const Node*> nodes;
  for (const Node& node : graph.nodes) nodes[node.name] = &node;
  std::vector<Blame> blames;
  for (const NodeRecord& row : record.nodes) {
    const auto found = nodes.find(row.name);
    const Node* node = found == nodes.end() ? nullptr : found->second;
    if (!node && !has_rest) {
      return fail(ErrorCode::kInternal, "the record's node '{}' is not in the graph", row.name);
    }
    if (row.place != Place::kHost) {
      ++on_device;
    } else if (!node) {
      blames.push_back({row.op, row.reason});
    } else if (!by_design.covers(row.op, types_of(graph, node->inputs),
                                 types_of(graph, node->outputs))) {
      blames.push_back({row.op, why_on_host(graph, *node, row.reason)});
    }
  }
  return blames;
}

// Every operator of the file as it stands, with the types that a run on the host shows.
bool all_by_design(Graph graph, const Tensors& inputs, const HostByDesign& by_design) {
  for (const ValueId id : graph.inputs) {
    Value& value = graph.values[static_cast<size_t>(id)];
    value.dtype = inputs.at(value.name).dtype();
  }
  const auto note = [&](const Node& node, std::span<const Tensor> outputs) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      graph.values[static_cast<size_t>(node.outputs[i])].dtype = outputs[i].dtype();
    }
  };
  if (!HostExecutor(graph).run(inputs, note)) return false;
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return by_design.covers(node.op, types_of(graph, node.inputs), types_of(graph, node.outputs));
  });
}

std::string compare_outputs(const Tensors& got, const Tensors& expected) {
  for (const auto& [name, tensor] : expected) {
    const auto found = got.find(name);
    if (found == got.end()) return "no output '" + name + "'";
    const std::string text = difference(found->second, tensor);
    if (!text.empty()) return name + ": " + text;
  }
  return {};
}

CaseResult judge_places(const Case& test, const Graph& graph, const Tensors& inputs,
                        const RunRecord& record, const HostByDesign& by_design) {
  CaseResult result{test.name, kFellBack, {}, {}};
  int on_device = 0;
  auto blames = nodes_on_host(graph, inputs, record, by_design, on_device);
  if (!blames) return unsupported(test, blames.error());
  result.blames = std::move(*blames);
  if (!result.blames.empty()) {
    result.detail = result.blames[0].op + ": " + result.blames[0].why;
  } else if (on_device > 0) {
    result.word = kOpenCl;
  } else if (all_by_design(graph, inputs, by_design)) {
    result.word = kHostByDesign;
  } else {
    result.detail = "no node is left to run on OpenCL";
    result.blames = blame_all(test, result.detail);
  }
  return result;
}

}  // namespace

CaseResult run_case(const Case& test, const RunSettings& settings) {
  auto graph = read_onnx(test.folder + "/model.onnx");
  if (!graph) return unsupported(test, graph.error());
  const auto inputs = read_tensors(test, "input", *graph, graph->inputs);
  if (!inputs) return unsupported(test, inputs.error());
  const auto expected = read_tensors(test, "output", *graph, graph->outputs);
  if (!expected) return unsupported(test, expected.error());
  ModelRunOptions options;
  options.device = settings.device;
  options.overrides.precision = Precision::kHigh;
  options.repeat = 0;
  const auto run = run_model(*graph, *inputs, settings.report, options);
  if (!run) return unsupported(test, run.error());
  if (const std::string text = compare_outputs(run->outputs, *expected); !text.empty()) {
    return {test.name, kWrong, text, blame_all(test, "wrong result")};
  }
  if (settings.device == "host") return {test.name, kHost, {}, {}};
  return judge_places(test, *graph, *inputs, run->record, *settings.by_design);
}

}  // namespace clvet::conformance
