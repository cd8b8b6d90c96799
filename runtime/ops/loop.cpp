// Loop: runs its body until the trip count is reached or the condition is false.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/subgraph.h"

namespace clvet::op_loop {
namespace {

// What comes before the carried values: of the node M and cond, of the body the trip and cond. Of
// the body's outputs, cond alone comes before them.
enum Input : size_t { kTrips = 0, kCondition = 1, kCarried = 2 };
constexpr size_t kCarriedOut = 1;

size_t carried_of(const OpCall& call) { return given_inputs(call) - kCarried; }

Result<const Graph*> body_of(const OpCall& call) {
  if (given_inputs(call) < kCarried) return wrong_count(call);
  const size_t carried = carried_of(call);
  CLVET_ASSIGN_OR_RETURN(const Graph* body,
                         subgraph_of(call, "body", kCarried + carried, kCarriedOut + carried));
  if (body->outputs.size() - kCarriedOut < call.node.outputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} has {} outputs, but the node names {}",
                call.node.op, body->outputs.size() - kCarriedOut, call.node.outputs.size());
  }
  return body;
}

// Nothing is known before it runs, and it may run for ever.
Result<Types> infer(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(body_of(call).map([](const Graph*) {}));
  return fail(ErrorCode::kUnavailable, "what a loop makes is known only at run time");
}

// A scalar, or of one axis where the body says so: older exporters do.
template <class T>
Tensor single(const Graph& body, size_t input, T value) {
  const auto& shape = body.values[static_cast<size_t>(body.inputs[input])].shape;
  return Tensor::from(shape && shape->size() == 1 ? Shape{1} : Shape{},
                      std::span<const T>(&value, 1));
}

struct Trips {
  int64_t most = std::numeric_limits<int64_t>::max();
  bool go = true;
};

Result<Trips> trips_of(const OpCall& call) {
  Trips trips;
  if (call.has(kTrips)) {
    CLVET_ASSIGN_OR_RETURN(trips.most, single_integer(call, kTrips));
  }
  if (call.has(kCondition)) {
    CLVET_ASSIGN_OR_RETURN(trips.go, truth_of(call.tensor(kCondition), "Loop's condition"));
  }
  return trips;
}

Result<std::vector<Tensor>> run(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Graph* body, body_of(call));
  CLVET_ASSIGN_OR_RETURN(Trips trips, trips_of(call));
  const size_t carried = carried_of(call), first_stack = kCarriedOut + carried;
  std::vector<Tensor> state;
  for (size_t i = 0; i < carried; ++i) {
    if (!call.has(kCarried + i)) return missing_input(call, kCarried + i);
    state.push_back(call.tensor(kCarried + i));
  }
  std::vector<TripStack> stacks(body->outputs.size() - first_stack);
  for (int64_t trip = 0; trip < trips.most && trips.go; ++trip) {
    std::vector<Tensor> own = {single(*body, kTrips, trip), single(*body, kCondition, trips.go)};
    for (Tensor& value : state) own.push_back(std::move(value));
    CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> made, run_subgraph(call, *body, std::move(own)));
    CLVET_ASSIGN_OR_RETURN(trips.go, truth_of(made[0], "the condition that a loop's body gives"));
    for (size_t i = 0; i < carried; ++i) state[i] = std::move(made[kCarriedOut + i]);
    for (size_t i = 0; i < stacks.size(); ++i)
      CLVET_RETURN_IF_ERROR(stacks[i].add(made[first_stack + i]));
  }
  for (size_t i = 0; i < stacks.size(); ++i) {
    const auto id = static_cast<size_t>(body->outputs[first_stack + i]);
    CLVET_ASSIGN_OR_RETURN(Tensor all, stacks[i].all(body->values[id]));
    state.push_back(std::move(all));
  }
  return state;
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Loop"},
    .inputs = "l? b? **",
    .attributes = "body:g",
    .max_outputs = 4096,
    .moves_elements = true,
    .infer = infer,
    .run = run,
};

}  // namespace clvet::op_loop
