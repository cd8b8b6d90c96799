#include "runtime/ops/support/lstm.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/recurrent.h"
#include "runtime/ops/support/recurrent_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

constexpr int64_t kGates = 4;  // in ONNX's order: input, output, forget, cell
constexpr std::array<std::string_view, 3> kDefaults = {"Sigmoid", "Tanh", "Tanh"};
enum Input : size_t { kX = 0, kB = 3, kInitialH = 5, kInitialC = 6, kPeepholes = 7 };

Result<Recurrent> problem_of(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(Recurrent p, recurrent_of(call, kGates, kDefaults));
  if (call.has(kInitialC) && call.shape(kInitialC) != p.state()) return misfit(call, kX, kInitialC);
  if (call.has(kPeepholes) && call.shape(kPeepholes) != Shape{p.directions, 3 * p.hidden})
    return misfit(call, kX, kPeepholes);
  return p;
}

struct Cell {
  const GateFunction* f;  // f, g, h of ONNX
  const float *bias, *peephole;
  int64_t n;
  bool input_forget;

  float gate(int64_t k, int64_t i, const float* from_x, const float* from_h) const {
    const float sum = from_x[k * n + i] + from_h[k * n + i];
    return bias ? sum + bias[k * n + i] + bias[(k + kGates) * n + i] : sum;
  }
  // As onnxruntime, it does not clip the cell.
  float out(float cell) const { return f[2].function(cell, f[2].alpha, f[2].beta); }
  float peep(int64_t k, int64_t i, float cell) const {
    return peephole ? peephole[k * n + i] * cell : 0;
  }
  void update(const float* from_x, const float* from_h, float* h, float* c) const {
    for (int64_t i = 0; i < n; ++i) {
      const float in = f[0](gate(0, i, from_x, from_h) + peep(0, i, c[i]));
      const float forget =
          input_forget ? 1 - in : f[0](gate(2, i, from_x, from_h) + peep(2, i, c[i]));
      c[i] = forget * c[i] + in * f[1](gate(3, i, from_x, from_h));
      h[i] = f[0](gate(1, i, from_x, from_h) + peep(1, i, c[i])) * out(c[i]);
    }
  }
};

// The cell above in terms; `peepholes` are three rows i, o, f, or none.
struct TermCell {
  Steps& s;
  const GateFunction* f;
  std::vector<Term> peepholes;
  bool input_forget;

  Term gate(const Term& sum, size_t k, const Term& c) const {
    if (peepholes.empty()) return sum;
    return applied(s, f[0], sum_of(s, sum, product_of(s, peepholes[k], c)));
  }
  StateTerms operator()(const RecurrentWeights& w, const Term& from_x,
                        const StateTerms& state) const {
    const Term &h = state[0], &c = state[1];
    const int64_t n = w.hidden;
    const auto parts = s.cut(sum_of(s, from_x, from_state(s, h, w.r, w.bias)), {3 * n, n});
    // Without peepholes the three gates are one row for their function.
    const auto sums = s.cut(peepholes.empty() ? applied(s, f[0], parts[0]) : parts[0], {n, n, n});
    const Term in = gate(sums[0], 0, c);
    const Term forget = input_forget ? s.one("Sub", {number(1), in}) : gate(sums[2], 2, c);
    const Term cell =
        sum_of(s, product_of(s, forget, c), product_of(s, in, applied(s, f[1], parts[1])));
    const Term out = gate(sums[1], 1, cell);
    return {product_of(s, out, f[2].step(s, cell, f[2].alpha, f[2].beta)), cell};
  }
};

}  // namespace

std::vector<Term> lstm_steps(Steps& s) {
  const OpCall& call = s.call();
  const auto p = problem_of(call);
  if (!p) return {};
  const bool input_forget = call.node.int_attr("input_forget", 0) != 0;
  const std::array<size_t, 2> initial = {kInitialH, kInitialC};
  return recurrent_steps(s, *p, initial, [&](int64_t d) -> CellTerms {
    TermCell cell{s, &p->functions[static_cast<size_t>(d) * kDefaults.size()], {}, input_forget};
    if (call.has(kPeepholes)) {
      const int64_t n = p->hidden;
      cell.peepholes = s.cut(direction_term(s, *p, kPeepholes, d, {3 * n}), {n, n, n});
    }
    return cell;
  });
}

Result<std::vector<TensorType>> infer_lstm(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Recurrent p, problem_of(call));
  const DType dtype = call.type(0).dtype;
  return std::vector<TensorType>{{dtype, p.all()}, {dtype, p.state()}, {dtype, p.state()}};
}

Status run_lstm(const OpCall& call, bool rounds_state, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(Recurrent p, problem_of(call));
  p.rounds_state = rounds_state;
  for (int64_t d = 0; d < p.directions; ++d) {
    const Cell cell{&p.functions[static_cast<size_t>(d) * kDefaults.size()],
                    direction_part(call, p, kB, d), direction_part(call, p, kPeepholes, d),
                    p.hidden, call.node.int_attr("input_forget", 0) != 0};
    std::vector<float> h = initial_state(call, p, kInitialH, d);
    std::vector<float> c = initial_state(call, p, kInitialC, d);
    const auto step = [&](int64_t b, const float* from_x, const float* from_h, float* state) {
      cell.update(from_x, from_h, state, &c[static_cast<size_t>(b * p.hidden)]);
    };
    run_direction(call, p, d, step, h, outputs[0]);
    keep_state(h, p, d, outputs[1]);
    keep_state(c, p, d, outputs[2]);
  }
  return {};
}

}  // namespace clvet
