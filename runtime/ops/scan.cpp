// Scan: runs its body once for each slice of its scan inputs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/strided_copy.h"
#include "runtime/ops/support/subgraph.h"

namespace clvet::op_scan {
namespace {

struct Problem {
  const Graph* body = nullptr;
  size_t states = 0, scans = 0, stacks = 0;  // inputs that are carried; scanned; outputs stacked
  std::vector<int64_t> input_axes, output_axes;
  std::vector<bool> input_backwards, output_backwards;
  int64_t trips = 0;
};

// One value for each of `count`, or the default 0 for all.
Result<std::vector<int64_t>> list_of(const OpCall& call, std::string_view name, size_t count) {
  const auto* given = call.node.ints_attr(name);
  if (!given) return std::vector<int64_t>(count, 0);
  if (given->size() != count) return bad_attribute(call, name);
  return *given;
}

Result<std::vector<bool>> directions_of(const OpCall& call, std::string_view name, size_t count) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> words, list_of(call, name, count));
  std::vector<bool> backwards;
  for (const int64_t word : words) {
    if (word != 0 && word != 1) return bad_attribute(call, name, word);
    backwards.push_back(word == 1);
  }
  return backwards;
}

Status set_trips(const OpCall& call, Problem& p) {
  for (size_t i = 0; i < p.scans; ++i) {
    const Shape& shape = call.shape(p.states + i);
    if (shape.empty()) return bad_shape(call, p.states + i);
    CLVET_ASSIGN_OR_RETURN(p.input_axes[i],
                           normal_axis(p.input_axes[i], static_cast<int64_t>(shape.size())));
    const int64_t extent = shape[static_cast<size_t>(p.input_axes[i])];
    if (i > 0 && extent != p.trips) return misfit(call, p.states, p.states + i);
    p.trips = extent;
  }
  return {};
}

Result<Problem> problem_of(const OpCall& call) {
  Problem p;
  const size_t given = given_inputs(call);
  const int64_t scans = call.node.int_attr("num_scan_inputs", 0);
  if (scans < 1 || scans > static_cast<int64_t>(given))
    return bad_attribute(call, "num_scan_inputs", scans);
  for (size_t i = 0; i < given; ++i)
    if (!call.has(i)) return missing_input(call, i);
  p.scans = static_cast<size_t>(scans);
  p.states = given - p.scans;
  CLVET_ASSIGN_OR_RETURN(
      p.body, subgraph_of(call, "body", given, std::max(p.states, call.node.outputs.size())));
  p.stacks = p.body->outputs.size() - p.states;
  CLVET_ASSIGN_OR_RETURN(p.input_axes, list_of(call, "scan_input_axes", p.scans));
  CLVET_ASSIGN_OR_RETURN(p.output_axes, list_of(call, "scan_output_axes", p.stacks));
  CLVET_ASSIGN_OR_RETURN(p.input_backwards, directions_of(call, "scan_input_directions", p.scans));
  CLVET_ASSIGN_OR_RETURN(p.output_backwards,
                         directions_of(call, "scan_output_directions", p.stacks));
  CLVET_RETURN_IF_ERROR(set_trips(call, p));
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(problem_of(call).map([](const Problem&) {}));
  return fail(ErrorCode::kUnavailable, "what a loop makes is known only at run time");
}

Result<Tensor> slice(const Tensor& from, int64_t axis, int64_t at) {
  Shape shape = from.shape();
  std::vector<int64_t> strides = strides_of(shape);
  const int64_t offset = at * strides[static_cast<size_t>(axis)];
  shape.erase(shape.begin() + axis);
  strides.erase(strides.begin() + axis);
  CLVET_ASSIGN_OR_RETURN(Tensor out, Tensor::create(from.dtype(), std::move(shape)));
  if (out.elements()) strided_copy(from, offset, strides, out);
  return out;
}

// The rows of `stacked` along `axis` of the result, the last first where `backwards`.
Result<Tensor> placed(const Tensor& stacked, int64_t axis, bool backwards) {
  CLVET_ASSIGN_OR_RETURN(axis, normal_axis(axis, stacked.rank()));
  if (axis == 0 && !backwards) return stacked;
  Shape shape = stacked.shape();
  std::vector<int64_t> strides = strides_of(shape);
  std::rotate(shape.begin(), shape.begin() + 1, shape.begin() + axis + 1);
  std::rotate(strides.begin(), strides.begin() + 1, strides.begin() + axis + 1);
  int64_t offset = 0;
  if (backwards) {
    int64_t& stride = strides[static_cast<size_t>(axis)];
    offset = std::max<int64_t>(0, stacked.dim(0) - 1) * stride;
    stride = -stride;
  }
  CLVET_ASSIGN_OR_RETURN(Tensor out, Tensor::create(stacked.dtype(), std::move(shape)));
  if (out.elements()) strided_copy(stacked, offset, strides, out);
  return out;
}

Result<std::vector<Tensor>> run(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  std::vector<Tensor> state;
  for (size_t i = 0; i < p.states; ++i) state.push_back(call.tensor(i));
  std::vector<TripStack> stacks(p.stacks);
  for (int64_t trip = 0; trip < p.trips; ++trip) {
    std::vector<Tensor> own = std::move(state);
    for (size_t i = 0; i < p.scans; ++i) {
      const int64_t at = p.input_backwards[i] ? p.trips - 1 - trip : trip;
      CLVET_ASSIGN_OR_RETURN(Tensor part, slice(call.tensor(p.states + i), p.input_axes[i], at));
      own.push_back(std::move(part));
    }
    CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> made, run_subgraph(call, *p.body, std::move(own)));
    for (size_t i = 0; i < p.stacks; ++i) CLVET_RETURN_IF_ERROR(stacks[i].add(made[p.states + i]));
    made.resize(p.states);
    state = std::move(made);
  }
  for (size_t i = 0; i < p.stacks; ++i) {
    const auto id = static_cast<size_t>(p.body->outputs[p.states + i]);
    CLVET_ASSIGN_OR_RETURN(const Tensor stacked, stacks[i].all(p.body->values[id]));
    CLVET_ASSIGN_OR_RETURN(Tensor out, placed(stacked, p.output_axes[i], p.output_backwards[i]));
    state.push_back(std::move(out));
  }
  return state;
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Scan"},
    .since = 9,
    .inputs = "**",
    .attributes =
        "body:g num_scan_inputs:i scan_input_axes:I scan_input_directions:I "
        "scan_output_axes:I scan_output_directions:I",
    .max_outputs = 4096,
    .moves_elements = true,
    .infer = infer,
    .run = run,
};

}  // namespace clvet::op_scan
