#include "runtime/ops/support/recurrent_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/recurrent.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

enum Input : size_t { kX, kW, kR, kB, kLengths };

// A walk of more steps is a dozen launches for each of them, and the host is faster.
constexpr int64_t kLongestWalk = 8;

bool is_short(const OpCall& call, const Recurrent& p) {
  const int64_t walk = p.steps * p.directions;
  if (walk < 1 || walk > kLongestWalk || p.batch < 1 || p.input < 1) return false;
  if (!call.has(kLengths)) return true;
  const auto lengths = call.integers(kLengths);
  return lengths &&
         std::ranges::all_of(*lengths, [&](int64_t length) { return length >= p.steps; });
}

// Part d of an input along `axis`, as `shape`.
Term part_of(Steps& s, const Recurrent& p, size_t input, int64_t axis, int64_t d,
             const Shape& shape) {
  const Term whole = s.input(input);
  if (!whole.present) return whole;
  if (p.directions == 1) return s.reshaped(whole, shape);
  const auto count = static_cast<size_t>(p.directions);
  const auto parts =
      s.all("Split", {whole, integers(std::vector<int64_t>(count, 1))}, {{"axis", axis}}, count);
  return s.reshaped(parts[static_cast<size_t>(d)], shape);
}

Term joined(Steps& s, const std::vector<Term>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : s.one("Concat", parts, {{"axis", axis}});
}

// What x, W and the first half of the biases make, step after step: [batch, gates * hidden].
std::vector<Term> sums_of_x(Steps& s, const Recurrent& p, int64_t d, const Term& bias) {
  const int64_t rows = p.gates * p.hidden;
  const Term x = p.batch_first ? s.transposed(s.input(kX), {1, 0, 2}) : s.input(kX);
  const Term all = s.one("Gemm",
                         {s.reshaped(x, {p.steps * p.batch, p.input}),
                          direction_term(s, p, kW, d, {rows, p.input}), bias},
                         {{"transB", int64_t{1}}});
  if (p.steps == 1) return {all};
  const auto count = static_cast<size_t>(p.steps);
  return s.all("Split", {all, integers(std::vector<int64_t>(count, p.batch))},
               {{"axis", int64_t{0}}}, count);
}

struct Direction {
  std::vector<Term> steps;  // h of each, in the order of time
  StateTerms state;         // the last one
};

Direction walk(Steps& s, const Recurrent& p, std::span<const size_t> initial, int64_t d,
               const CellTerms& cell) {
  const int64_t rows = p.gates * p.hidden;
  const Term biases = direction_term(s, p, kB, d, {2 * rows});
  const auto halves =
      biases.present ? s.cut(biases, {rows, rows}) : std::vector<Term>(2, no_term());
  const RecurrentWeights weights{direction_term(s, p, kR, d, {rows, p.hidden}), halves[1],
                                 p.hidden};
  const std::vector<Term> from_x = sums_of_x(s, p, d, halves[0]);
  Direction out;
  for (const size_t input : initial) {
    out.state.push_back(part_of(s, p, input, p.batch_first ? 1 : 0, d, {p.batch, p.hidden}));
  }
  for (int64_t i = 0; i < p.steps; ++i) {
    const int64_t t = p.backwards(d) ? p.steps - 1 - i : i;
    out.state = cell(weights, from_x[static_cast<size_t>(t)], out.state);
    out.steps.push_back(out.state[0]);
  }
  if (p.backwards(d)) std::ranges::reverse(out.steps);
  return out;
}

// The h of all steps and directions.
Term all_of(Steps& s, const Recurrent& p, const std::vector<Direction>& directions) {
  const Shape one = p.batch_first ? Shape{p.batch, 1, 1, p.hidden} : Shape{1, 1, p.batch, p.hidden};
  std::vector<Term> walks;
  for (const Direction& direction : directions) {
    std::vector<Term> steps;
    for (const Term& h : direction.steps) steps.push_back(s.reshaped(h, one));
    walks.push_back(joined(s, steps, p.batch_first ? 1 : 0));
  }
  return joined(s, walks, p.batch_first ? 2 : 1);
}

Term last_of(Steps& s, const Recurrent& p, const std::vector<Direction>& directions, size_t i) {
  const Shape one = p.batch_first ? Shape{p.batch, 1, p.hidden} : Shape{1, p.batch, p.hidden};
  std::vector<Term> states;
  for (const Direction& direction : directions)
    states.push_back(s.reshaped(direction.state[i], one));
  return joined(s, states, p.batch_first ? 1 : 0);
}

}  // namespace

std::vector<Term> recurrent_steps(Steps& s, const Recurrent& p, std::span<const size_t> initial,
                                  const std::function<CellTerms(int64_t direction)>& cell_of) {
  if (!is_short(s.call(), p)) return {};
  std::vector<Direction> directions;
  for (int64_t d = 0; d < p.directions; ++d)
    directions.push_back(walk(s, p, initial, d, cell_of(d)));
  if (!s.ok()) return {};
  std::vector<Term> outputs{all_of(s, p, directions)};
  for (size_t i = 0; i < initial.size(); ++i) outputs.push_back(last_of(s, p, directions, i));
  return outputs;
}

Term direction_term(Steps& s, const Recurrent& p, size_t input, int64_t d, const Shape& shape) {
  return part_of(s, p, input, 0, d, shape);
}

Term applied(Steps& s, const GateFunction& f, const Term& x) {
  const double clip = f.clip;
  const Term bounded = clip > 0 ? s.one("Clip", {x, number(-clip), number(clip)}) : x;
  return f.step(s, bounded, f.alpha, f.beta);
}

Term from_state(Steps& s, const Term& h, const Term& r, const Term& bias) {
  if (!h.present) return bias;
  return s.one("Gemm", {h, r, bias}, {{"transB", int64_t{1}}});
}

Term sum_of(Steps& s, const Term& a, const Term& b) {
  if (!a.present || !b.present) return a.present ? a : b;
  return s.one("Add", {a, b});
}

Term product_of(Steps& s, const Term& a, const Term& b) {
  if (!a.present || !b.present) return no_term();
  return s.one("Mul", {a, b});
}

}  // namespace clvet
