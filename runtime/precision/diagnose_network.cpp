#include "runtime/precision/diagnose_network.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/precision/answer.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/origin.h"
#include "runtime/precision/raise.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch.h"

namespace clvet {
namespace {

// Wrong inputs that a choice of nodes is tried on; the others are looked at once it is made.
constexpr size_t kTriedOn = 2;

class Diagnoser {
 public:
  Diagnoser(const Graph& graph, const std::vector<CalibrationInput>& inputs,
            const DiagnoseOptions& options)
      : graph_(graph),
        inputs_(inputs),
        options_(options),
        emulation_(graph, {options.format, options.policy == Policy::kEngine}) {}

  Result<PrecisionDiagnosis> run() {
    found_.policy = options_.policy;
    found_.place = "host";
    found_.format = options_.format;
    found_.target = options_.target;
    list_nodes();
    for (size_t i = 0; i < inputs_.size(); ++i) CLVET_RETURN_IF_ERROR(look_at(i));
    for (DiagnosedNode& node : found_.nodes) node.ms /= static_cast<double>(inputs_.size());
    if (!wrong_.empty()) CLVET_RETURN_IF_ERROR(plan());
    return std::move(found_);
  }

 private:
  void list_nodes() {
    const Links links(graph_);
    for (const Node& node : graph_.nodes) {
      DiagnosedNode row{node.name, node.op};
      for (const ValueId in : node.inputs) {
        const int from = in == kNoValue ? -1 : links.producer[static_cast<size_t>(in)];
        if (from >= 0) row.reads.push_back(from);
      }
      found_.nodes.push_back(std::move(row));
    }
  }

  void say(const char* what, size_t done) const {
    if (options_.sink)
      options_.sink(
          {EventLevel::kProgress, what, static_cast<int>(done), static_cast<int>(inputs_.size())});
  }

  Status look_at(size_t index) {
    say("inputs", index);
    CLVET_ASSIGN_OR_RETURN(Watched watched, watch(emulation_, inputs_[index].values));
    DiagnosedInput row = judged(index, watched.low, watched.reference);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      row.ranges[graph_.values[static_cast<size_t>(graph_.inputs[i])].name] = watched.inputs[i];
    }
    for (const WatchedNode& node : watched.nodes) row.host_ms += node.ms;
    for (size_t n = 0; n < watched.nodes.size(); ++n) add(index, watched.nodes[n], found_.nodes[n]);
    if (!row.right) {
      wrong_.push_back(index);
      for (Suspicion& one : suspicions_of(graph_, watched)) add(index, std::move(one));
    }
    found_.inputs.push_back(std::move(row));
    references_.push_back(std::move(watched.reference));
    return {};
  }

  static void add(size_t index, const WatchedNode& seen, DiagnosedNode& node) {
    node.floats |= seen.floats;
    node.range.add(seen.range);
    if (seen.isolated.part() >= node.isolated.part()) node.isolated = seen.isolated;
    if (seen.cumulative.part() >= node.cumulative.part()) node.cumulative = seen.cumulative;
    node.constant |= seen.constant;
    node.ms += seen.ms;
    if (!seen.blame) return;
    if (!node.blame) node.blame = seen.blame;
    node.out_of_bounds.push_back(static_cast<int>(index));
  }

  void add(size_t index, Suspicion one) {
    const auto same = std::find_if(suspicions_.begin(), suspicions_.end(), [&](const auto& row) {
      return row.node == one.node && row.blame.value == one.blame.value;
    });
    auto& inputs = seen_with_[{one.node, one.blame.value}];
    inputs.push_back(static_cast<int>(index));
    if (same == suspicions_.end()) {
      suspicions_.push_back(std::move(one));
      return;
    }
    same->part = std::max(same->part, one.part);
    for (const int node : one.shows) {
      if (std::find(same->shows.begin(), same->shows.end(), node) == same->shows.end())
        same->shows.push_back(node);
    }
  }

  DiagnosedInput judged(size_t index, const std::map<std::string, Tensor>& outputs,
                        const std::map<std::string, Tensor>& reference) const {
    DiagnosedInput row;
    row.name = inputs_[index].name;
    row.outputs = compare_outputs(outputs, reference);
    row.right = all_right(row.outputs, options_.target);
    return row;
  }

  Result<DiagnosedInput> with(const Raised& raised, size_t index) const {
    CLVET_ASSIGN_OR_RETURN(const auto outputs, emulation_.run(inputs_[index].values, raised));
    return judged(index, outputs, references_[index]);
  }

  double cost_of(const Raised& raised) const {
    double ms = 0;
    for (size_t n = 0; n < raised.size(); ++n) ms += raised[n] ? found_.nodes[n].ms : 0;
    return ms;
  }

  // Chosen on few of the wrong inputs, then looked at with all: one that is still wrong joins them.
  Status plan() {
    std::vector<size_t> tried_on(
        wrong_.begin(),
        wrong_.begin() + static_cast<std::ptrdiff_t>(std::min(kTriedOn, wrong_.size())));
    for (;;) {
      CLVET_ASSIGN_OR_RETURN(const RaisePlan raise, search(tried_on));
      CLVET_ASSIGN_OR_RETURN(const auto still_wrong, look_after(raise));
      const bool again = still_wrong && std::find(tried_on.begin(), tried_on.end(), *still_wrong) ==
                                            tried_on.end();
      if (!again) {
        name_origins(raise.raised);
        return {};
      }
      tried_on.push_back(*still_wrong);
    }
  }

  Result<RaisePlan> search(const std::vector<size_t>& tried_on) const {
    RaiseProblem problem{graph_, suspicions_, {}, {}, {}};
    for (const DiagnosedNode& node : found_.nodes) problem.parts.push_back(node.isolated.part());
    problem.cost = [this](const Raised& raised) { return cost_of(raised); };
    problem.cures = [&](const Raised& raised) -> Result<bool> {
      for (const size_t index : tried_on) {
        CLVET_ASSIGN_OR_RETURN(const DiagnosedInput row, with(raised, index));
        if (!row.right) return false;
      }
      return true;
    };
    return cheapest_raise(problem);
  }

  // The first input that the plan does not cure.
  Result<std::optional<size_t>> look_after(const RaisePlan& raise) {
    PrecisionPlan plan;
    plan.smallest = raise.smallest;
    plan.trials = raise.trials;
    plan.high_ms = cost_of(Raised(graph_.nodes.size(), true));
    plan.raised_ms = cost_of(raise.raised);
    for (size_t n = 0; n < raise.raised.size(); ++n) {
      if (raise.raised[n]) plan.raised.push_back(graph_.nodes[n].name);
    }
    std::optional<size_t> wrong;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      say("plan", i);
      CLVET_ASSIGN_OR_RETURN(DiagnosedInput row, with(raise.raised, i));
      if (!row.right && !wrong) wrong = i;
      plan.after.push_back(std::move(row));
    }
    plan.right = !wrong;
    found_.plan = std::move(plan);
    return wrong;
  }

  // Those suspicions without whose nodes the plan does not do.
  void name_origins(const Raised& raised) {
    const Links links(graph_);
    for (const Suspicion& one : suspicions_) {
      const auto needed = [&](int node) { return node >= 0 && raised[static_cast<size_t>(node)]; };
      if (!needed(one.node) && std::none_of(one.shows.begin(), one.shows.end(), needed)) continue;
      ErrorOrigin origin;
      origin.node = one.node;
      origin.blame = one.blame;
      origin.part = one.part;
      origin.inputs = seen_with_.at({one.node, one.blame.value});
      const ValueId value = graph_.find_value(one.blame.value);
      const int from = value == kNoValue ? -1 : links.producer[static_cast<size_t>(value)];
      if (from >= 0 && from != one.node)
        origin.made_by = graph_.nodes[static_cast<size_t>(from)].name;
      if (one.node >= 0) {
        origin.name = graph_.nodes[static_cast<size_t>(one.node)].name;
        origin.op = graph_.nodes[static_cast<size_t>(one.node)].op;
      } else {
        origin.name = one.blame.value;
      }
      for (const int node : one.shows)
        origin.shows.push_back(graph_.nodes[static_cast<size_t>(node)].name);
      found_.origins.push_back(std::move(origin));
    }
  }

  const Graph& graph_;
  const std::vector<CalibrationInput>& inputs_;
  const DiagnoseOptions& options_;
  Emulation emulation_;
  PrecisionDiagnosis found_;
  std::vector<std::map<std::string, Tensor>> references_;  // by input
  std::vector<size_t> wrong_;                              // inputs
  std::vector<Suspicion> suspicions_;
  std::map<std::pair<int, std::string>, std::vector<int>> seen_with_;
};

std::map<std::string, Shape> shapes_of(const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape();
  return shapes;
}

}  // namespace

Result<PrecisionDiagnosis> diagnose_network(const Graph& graph,
                                            const std::vector<CalibrationInput>& inputs,
                                            const DiagnoseOptions& options) {
  if (inputs.empty())
    return fail(ErrorCode::kInvalidArgument, "there is no input to diagnose with");
  for (const CalibrationInput& input : inputs) {
    if (const Status fits = check_inputs(graph, input.values); !fits)
      return wrap(fits.error(), input.name);
  }
  Graph prepared = graph;
  if (options.policy == Policy::kEngine) CLVET_RETURN_IF_ERROR(optimise(prepared));
  CLVET_ASSIGN_OR_RETURN(prepared, specialise(prepared, shapes_of(inputs.front().values)));
  return Diagnoser(prepared, inputs, options).run();
}

}  // namespace clvet
