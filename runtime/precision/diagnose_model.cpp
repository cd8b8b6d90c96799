#include "runtime/precision/diagnose_model.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
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
  if (seen.isolated.part() >= node.isolated.part()) node.isolated = seen.isolated;
  if (seen.cumulative.part() >= node.cumulative.part()) node.cumulative = seen.cumulative;
  node.constant |= seen.constant;
  node.ms += seen.ms;
  if (!seen.blame) return;
  if (!node.blame) node.blame = seen.blame;
  node.out_of_bounds.push_back(static_cast<int>(index));
}

class Diagnoser {
 public:
  Diagnoser(DiagnosedModel& model, const DiagnoseOptions& options)
      : model_(model), options_(options) {}

  Result<PrecisionDiagnosis> run() {
    found_.policy = options_.policy;
    found_.place = "host";
    found_.format = options_.format;
    found_.target = options_.target;
    list_nodes();
    for (size_t i = 0; i < model_.inputs(); ++i) CLVET_RETURN_IF_ERROR(look_at(i));
    found_.contrasts = contrasts_of(found_.inputs);
    for (DiagnosedNode& node : found_.nodes) node.ms /= static_cast<double>(model_.inputs());
    if (!wrong_.empty()) CLVET_RETURN_IF_ERROR(plan());
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

  double ms_of(const Raised& raised) const {
    double ms = 0;
    for (size_t n = 0; n < raised.size(); ++n) ms += raised[n] ? found_.nodes[n].ms : 0;
    return ms;
  }
  double cost_of(const Raised& raised) const {
    double cost = 0;
    for (size_t n = 0; n < raised.size(); ++n) cost += raised[n] ? model_.cost(found_.nodes[n]) : 0;
    return cost;
  }

  // Chosen on few of the wrong inputs, then looked at with all: one that is still wrong joins them,
  // in front, for it tells soonest that a choice does not do.
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
      tried_on.insert(tried_on.begin(), *still_wrong);
    }
  }

  // The input that refused the last choice is asked first: it most likely refuses the next one.
  Result<RaisePlan> search(std::vector<size_t> tried_on) const {
    RaiseProblem problem{model_.wiring(), suspicions_, {}, {}, {}};
    for (const DiagnosedNode& node : found_.nodes) problem.parts.push_back(node.isolated.part());
    problem.cost = [this](const Raised& raised) { return cost_of(raised); };
    problem.cures = [&](const Raised& raised) -> Result<bool> {
      for (auto index = tried_on.begin(); index != tried_on.end(); ++index) {
        CLVET_ASSIGN_OR_RETURN(const bool cured, model_.cures(raised, *index));
        if (cured) continue;
        std::rotate(tried_on.begin(), index, index + 1);
        return false;
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
    plan.high_ms = ms_of(Raised(found_.nodes.size(), true));
    plan.raised_ms = ms_of(raise.raised);
    for (size_t n = 0; n < raise.raised.size(); ++n) {
      if (raise.raised[n]) plan.raised.push_back(found_.nodes[n].name);
    }
    std::optional<size_t> wrong;
    for (size_t i = 0; i < model_.inputs(); ++i) {
      say("plan", i);
      CLVET_ASSIGN_OR_RETURN(DiagnosedInput row, model_.with(raise.raised, i));
      if (!row.right && !wrong) wrong = i;
      plan.after.push_back(std::move(row));
    }
    plan.right = !wrong;
    found_.plan = std::move(plan);
    return wrong;
  }

  // Those suspicions without whose nodes the plan does not do.
  void name_origins(const Raised& raised) {
    for (const Suspicion& one : suspicions_) {
      const auto needed = [&](int node) { return node >= 0 && raised[static_cast<size_t>(node)]; };
      if (needed(one.node) || std::any_of(one.shows.begin(), one.shows.end(), needed))
        found_.origins.push_back(origin_of(one));
    }
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
  PrecisionDiagnosis found_;
  std::vector<size_t> wrong_;  // inputs
  std::vector<Suspicion> suspicions_;
  std::map<std::pair<int, std::string>, std::vector<int>> seen_with_;
};

}  // namespace

Result<PrecisionDiagnosis> diagnose_model(DiagnosedModel& model, const DiagnoseOptions& options) {
  return Diagnoser(model, options).run();
}

}  // namespace clvet
