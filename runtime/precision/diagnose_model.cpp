#include "runtime/precision/diagnose_model.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/contrast.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/origin.h"
#include "runtime/precision/raise.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/trials.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

// Wrong inputs that a choice of nodes is tried on; the others are looked at once it is made.
constexpr size_t kTriedOn = 2;

void merge(size_t index, const WatchedNode& seen, DiagnosedNode& node) {
  node.floats |= seen.floats;
  node.range.add(seen.range);
  keep_worst(seen.isolated, node.isolated);
  keep_worst(seen.cumulative, node.cumulative);
  node.constant |= seen.constant;
  node.ms += seen.ms;
  if (!seen.blame) return;
  if (!node.blame) node.blame = seen.blame;
  node.out_of_bounds.push_back(static_cast<int>(index));
}

double ms_of(const Raised& raised, std::span<const DiagnosedNode> nodes) {
  double ms = 0;
  for (size_t n = 0; n < raised.size(); ++n) ms += raised[n] ? nodes[n].ms : 0;
  return ms;
}

class Diagnoser {
 public:
  Diagnoser(DiagnosedModel& model, const DiagnoseOptions& options)
      : model_(model), options_(options), trials_(model) {}

  Result<PrecisionDiagnosis> run() {
    found_.policy = options_.policy;
    found_.format = options_.format;
    found_.target = options_.target;
    list_nodes();
    Status done;
    for (size_t i = 0; done && i < model_.inputs(); ++i) done = look_at(i);
    if (!done && found_.inputs.empty()) return tl::unexpected(done.error());
    found_.contrasts = contrasts_of(found_.inputs);
    for (DiagnosedNode& node : found_.nodes) node.ms /= static_cast<double>(found_.inputs.size());
    if (done && !wrong_.empty()) done = plan();
    if (!done) found_.stopped = done.error();
    return std::move(found_);
  }

 private:
  void list_nodes() {
    found_.nodes = model_.nodes();
    for (size_t n = 0; n < found_.nodes.size(); ++n) {
      for (const Wire& wire : model_.wiring()[n])
        if (wire.from >= 0) found_.nodes[n].reads.push_back(wire.from);
    }
  }

  void say(const char* what, size_t done) const {
    if (options_.sink)
      options_.sink(
          {EventLevel::kProgress, what, static_cast<int>(done), static_cast<int>(model_.inputs())});
  }

  Status look_at(size_t index) {
    say("inputs", index);
    CLVET_ASSIGN_OR_RETURN(DiagnosedModel::Look look, model_.look(index));
    const std::vector<WatchedNode>& nodes = look.seen.nodes;
    for (const WatchedNode& node : nodes) look.input.host_ms += node.ms;
    for (size_t n = 0; n < nodes.size(); ++n) merge(index, nodes[n], found_.nodes[n]);
    if (!look.input.right) {
      wrong_.push_back(index);
      for (Suspicion& one : suspicions_of(model_.wiring(), look.seen)) add(index, std::move(one));
    }
    found_.inputs.push_back(std::move(look.input));
    return {};
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

  // Chosen on few of the wrong inputs, then looked at with all: one that is still wrong joins them.
  Status plan() {
    std::vector<size_t> tried_on(
        wrong_.begin(),
        wrong_.begin() + static_cast<std::ptrdiff_t>(std::min(kTriedOn, wrong_.size())));
    for (;;) {
      CLVET_ASSIGN_OR_RETURN(const RaisePlan raise, search(tried_on));
      CLVET_ASSIGN_OR_RETURN(const auto still_wrong, look_after(raise, tried_on));
      if (!still_wrong) {
        name_origins(raise.raised);
        return {};
      }
      tried_on.push_back(*still_wrong);
    }
  }

  Result<RaisePlan> search(const std::vector<size_t>& tried_on) {
    RaiseProblem problem{model_.wiring(), suspicions_, {}, {}, {}};
    for (const DiagnosedNode& node : found_.nodes) problem.parts.push_back(node.isolated.part());
    problem.cost = [this](const Raised& raised) { return model_.cost(raised, found_.nodes); };
    problem.cures = [&](const Raised& raised) { return trials_.cures(raised, tried_on); };
    return cheapest_raise(problem);
  }

  // The first input that the nodes do not cure, and that they were not chosen with. Where there is
  // none, they are the plan.
  Result<std::optional<size_t>> look_after(const RaisePlan& raise,
                                           const std::vector<size_t>& tried_on) {
    PrecisionPlan plan;
    plan.smallest = raise.smallest;
    plan.trials = raise.trials;
    plan.chosen_on = static_cast<int>(tried_on.size());
    plan.predicted = model_.times(raise.raised, found_.nodes);
    for (size_t n = 0; n < raise.raised.size(); ++n) {
      if (raise.raised[n]) plan.raised.push_back(found_.nodes[n].name);
    }
    plan.right = true;
    for (size_t i = 0; i < model_.inputs(); ++i) {
      say("plan", i);
      CLVET_ASSIGN_OR_RETURN(DiagnosedInput row, trials_.with(raise.raised, i));
      if (!row.right && std::find(tried_on.begin(), tried_on.end(), i) == tried_on.end()) return i;
      plan.right &= row.right;
      plan.after.push_back(std::move(row));
    }
    found_.plan = std::move(plan);
    return std::nullopt;
  }

  // Those suspicions without whose nodes the plan does not do; where it does without any, the one
  // that makes the largest error.
  void name_origins(const Raised& raised) {
    for (const Suspicion& one : suspicions_) {
      const auto needed = [&](int node) { return node >= 0 && raised[static_cast<size_t>(node)]; };
      if (needed(one.node) || std::any_of(one.shows.begin(), one.shows.end(), needed))
        found_.origins.push_back(origin_of(one));
    }
    if (found_.origins.empty() && !suspicions_.empty())
      found_.origins.push_back(
          origin_of(*std::ranges::max_element(suspicions_, {}, &Suspicion::part)));
    std::stable_sort(found_.origins.begin(), found_.origins.end(),
                     [](const ErrorOrigin& a, const ErrorOrigin& b) { return a.node < b.node; });
  }

  ErrorOrigin origin_of(const Suspicion& one) const {
    ErrorOrigin origin;
    origin.node = one.node;
    origin.blame = one.blame;
    origin.part = one.part;
    origin.inputs = seen_with_.at({one.node, one.blame.value});
    for (const int node : one.shows)
      origin.shows.push_back(found_.nodes[static_cast<size_t>(node)].name);
    if (one.node < 0) {
      origin.name = one.blame.value;
      return origin;
    }
    const auto index = static_cast<size_t>(one.node);
    origin.name = found_.nodes[index].name;
    origin.op = found_.nodes[index].op;
    for (const Wire& wire : model_.wiring()[index]) {
      if (wire.value == one.blame.value && wire.from >= 0)
        origin.made_by = found_.nodes[static_cast<size_t>(wire.from)].name;
    }
    return origin;
  }

  DiagnosedModel& model_;
  const DiagnoseOptions& options_;
  Trials trials_;
  PrecisionDiagnosis found_;
  std::vector<size_t> wrong_;  // inputs
  std::vector<Suspicion> suspicions_;
  std::map<std::pair<int, std::string>, std::vector<int>> seen_with_;
};

}  // namespace

double DiagnosedModel::cost(const Raised& raised, std::span<const DiagnosedNode> nodes) {
  return ms_of(raised, nodes);
}

PlanTimes DiagnosedModel::times(const Raised& raised, std::span<const DiagnosedNode> nodes) {
  return {0, ms_of(raised, nodes), ms_of(Raised(nodes.size(), true), nodes)};
}

Result<PrecisionDiagnosis> diagnose_model(DiagnosedModel& model, const DiagnoseOptions& options) {
  return Diagnoser(model, options).run();
}

}  // namespace clvet
