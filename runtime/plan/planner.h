// Report + model -> plan. Pure: the same inputs give the same plan, on any machine.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

// What of a combination a kind of model leaves open.
struct CombinationSpace {
  bool quantised_weights = false;  // memory low is another choice than normal
  bool image_activations = false;
};

// The combinations that the words leave open, in the order of preference.
std::vector<Combination> combinations_of(const PlanOverrides& words, const CombinationSpace& space);

// Whether an error means that a combination, or a device, cannot run the model while another one
// may: kUnavailable, kUntested, kUnsupported, kDeviceError or kResourceExhausted. Any other code
// means that the model, a file or clvet itself is at fault.
bool cannot_run_here(ErrorCode code);

// The plan of one combination; where there is none, an error of which cannot_run_here() is true.
using PlanOne = std::function<Result<ExecutionPlan>(const Combination& combination)>;

// Whether all kernels of `plan` were timed, and it is predicted to be within a tenth of `other`, if
// those of that were.
bool is_about_as_fast(const ExecutionPlan& plan, const ExecutionPlan& other);

// The plan with the fewest fallbacks, among these the one that is predicted to be fastest, among
// equals the first. One of which a kernel was not timed comes after those that are timed. Unless
// the words name the precision, one below high has to save a third of the time. Of those of its
// precision that are within a tenth of it the one whose weights take the fewest bytes. The others
// are listed as refused. Where none has a plan: the error of the first.
Result<ExecutionPlan> best_plan(std::span<const Combination> combinations, const PlanOne& plan_one,
                                const PlanOverrides& words);

// A network whose shapes are all known (specialise it first). Where a word is not given, the
// storage of weights and of activations is chosen for each node; the combination is called by what
// most have. Nodes that no trusted variant can run go to the host, with the reason. kUnavailable,
// kUntested: no node can run on the device.
Result<ExecutionPlan> plan_network(const Graph& graph, const VariantChooser& chooser,
                                   const PlanOverrides& words);
Result<ExecutionPlan> plan_network_for(const Graph& graph, const VariantChooser& chooser,
                                       const Combination& combination,
                                       const PlanFreedom& freedom = {});
// Everything on the host.
ExecutionPlan plan_on_host(const Graph& graph, const std::string& reason);

// That `plan` is one of this network: made again from its places and variants alone, it is the same
// in every part but predictions and reasons. kInvalidArgument: it is not, or the report does not
// vouch for one of its variants; the message says where.
Status check_network_plan(const Graph& graph, const VariantChooser& chooser,
                          const ExecutionPlan& plan);

// The first place where two plans differ, predictions and reasons apart; empty: nowhere.
std::string first_difference(const ExecutionPlan& made, const ExecutionPlan& given);

}  // namespace clvet
