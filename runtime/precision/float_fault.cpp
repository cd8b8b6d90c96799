#include "runtime/precision/float_fault.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/beside_double.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {
namespace {

using Values = std::map<std::string, Tensor>;

// Float64 takes longer than float32.
constexpr size_t kMostInputs = 3;

bool is_finite(const Tensor& tensor) {
  if (tensor.dtype() != DType::kF32) return true;
  const auto values = tensor.values<float>();
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

bool all_finite(const std::map<std::string, Tensor>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const auto& row) { return is_finite(row.second); });
}

// Back from the outputs along the nodes that are bad to the first one.
class Trace {
 public:
  using Bad = std::function<bool(const BesideDouble&)>;
  Trace(const Graph& graph, const BesideDoubleRun& run, Bad bad)
      : graph_(graph), run_(run), bad_(std::move(bad)), links_(graph) {}

  std::optional<size_t> first() const {
    for (const ValueId out : graph_.outputs)
      if (const auto node = bad_maker(out)) return first_before(*node);
    return std::nullopt;
  }

 private:
  std::optional<size_t> bad_maker(ValueId id) const {
    const int from = id == kNoValue ? -1 : links_.producer[static_cast<size_t>(id)];
    if (from < 0 || !bad_(run_.nodes[static_cast<size_t>(from)])) return std::nullopt;
    return static_cast<size_t>(from);
  }

  size_t first_before(size_t node) const {
    for (;;) {
      std::optional<size_t> before;
      for (const ValueId in : graph_.nodes[node].inputs)
        if (!before) before = bad_maker(in);
      if (!before) return node;
      node = *before;
    }
  }

  const Graph& graph_;
  const BesideDoubleRun& run_;
  Bad bad_;
  Links links_;
};

class FloatFaults {
 public:
  FloatFaults(const Graph& graph, const PrecisionDiagnosis& found) : graph_(graph), found_(found) {}

  // `single`: the outputs in float32.
  Status look(size_t index, const Values& inputs, const Values& single) {
    CLVET_ASSIGN_OR_RETURN(const Values exact, run_in_double(graph_, inputs));
    double worst = 0;
    bool finite = true;
    for (const auto& [name, row] : compare_with_double(single, exact)) {
      worst = std::max(worst, row.part);
      finite &= row.finite;
    }
    return worst > found_.target || !finite ? trace(index, inputs, worst) : Status();
  }
  // Without asking float64.
  void look_at_outputs(size_t index) {
    if (fault_ && fault_->lost) add(index, 0);
  }
  const std::optional<FloatFault>& fault() const { return fault_; }

 private:
  Status trace(size_t index, const Values& inputs, double worst) {
    CLVET_ASSIGN_OR_RETURN(const BesideDoubleRun run, run_beside_double(graph_, inputs));
    const double target = found_.target;
    const bool off = worst > target;
    const Trace trace(graph_, run, [off, target](const BesideDouble& row) {
      return off ? row.part > target : !row.finite;
    });
    const auto node = trace.first();
    if (!node || (!off && reads_infinity(graph_.nodes[*node]))) return {};
    add(index, worst);
    if (fault_->inputs.size() == 1) name(*node, run.nodes[*node], off);
    return {};
  }

  void add(size_t index, double part) {
    if (!fault_) fault_.emplace();
    fault_->part = std::max(fault_->part, part);
    fault_->inputs.push_back(static_cast<int>(index));
  }

  void name(size_t node, const BesideDouble& row, bool off) {
    fault_->name = graph_.nodes[node].name;
    fault_->op = graph_.nodes[node].op;
    fault_->lost = !row.finite;
    fault_->in_float64 = !off;
  }

  // A mask of -inf is meant so.
  bool reads_infinity(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [this](ValueId in) {
      const Tensor* constant = graph_.constant(in);
      return constant && !is_finite(*constant);
    });
  }

  const Graph& graph_;
  const PrecisionDiagnosis& found_;
  std::optional<FloatFault> fault_;
};

// Constants that the format does not hold say nothing of float32, which holds them.
bool fails_out_of_bounds(const PrecisionDiagnosis& found, size_t index) {
  return !found.inputs[index].right &&
         std::any_of(found.nodes.begin(), found.nodes.end(), [](const DiagnosedNode& node) {
           return node.blame && node.blame->place != FaultPlace::kConstant;
         });
}

}  // namespace

Result<std::optional<FloatFault>> find_float_fault(const Graph& graph,
                                                   std::span<const CalibrationInput> inputs,
                                                   OutputsByInput references,
                                                   const PrecisionDiagnosis& found) {
  FloatFaults faults(graph, found);
  size_t looked = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!all_finite(inputs[i].values)) continue;
    const bool finite = all_finite(references[i]);
    if (finite && !fails_out_of_bounds(found, i)) continue;
    if (looked++ < kMostInputs) {
      CLVET_RETURN_IF_ERROR(faults.look(i, inputs[i].values, references[i]));
    } else if (!finite) {
      faults.look_at_outputs(i);
    }
  }
  return faults.fault();
}

}  // namespace clvet
