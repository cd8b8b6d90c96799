// GRU.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/gemm.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/recurrent.h"
#include "runtime/ops/support/recurrent_steps.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_gru {
namespace {

constexpr int64_t kGates = 3;  // in ONNX's order: update, reset, hidden
constexpr std::array<std::string_view, 2> kDefaults = {"Sigmoid", "Tanh"};
enum Input : size_t { kR = 2, kB = 3, kInitialH = 5 };

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Recurrent p, recurrent_of(call, kGates, kDefaults));
  const DType dtype = call.type(0).dtype;
  return Types{{dtype, p.all()}, {dtype, p.state()}};
}

struct Cell {
  const GateFunction* f;  // f, g of ONNX
  const float *bias, *hidden_weights;
  int64_t n;
  bool reset_after;              // linear_before_reset
  std::vector<float> rest, sum;  // what the reset leaves of the state, and its product

  float bias_of_x(int64_t k, int64_t i) const { return bias ? bias[k * n + i] : 0; }
  float bias_of_h(int64_t k, int64_t i) const { return bias ? bias[(k + kGates) * n + i] : 0; }

  float gate(int64_t k, int64_t i, const float* from_x, const float* from_h) const {
    return f[0](from_x[k * n + i] + from_h[k * n + i] + bias_of_x(k, i) + bias_of_h(k, i));
  }
  void update(const float* from_x, const float* from_h, float* h) {
    for (int64_t i = 0; i < n; ++i) {
      const float reset = gate(1, i, from_x, from_h);
      const auto at = static_cast<size_t>(i);
      rest[at] = reset * h[i];
      if (reset_after) sum[at] = reset * (from_h[2 * n + i] + bias_of_h(2, i));
    }
    if (!reset_after) {
      gemm({rest.data(), 1, n, n}, {hidden_weights, n, n, n, true}, sum.data(), n, false);
      for (int64_t i = 0; i < n; ++i) sum[static_cast<size_t>(i)] += bias_of_h(2, i);
    }
    for (int64_t i = 0; i < n; ++i) {
      const float keep = gate(0, i, from_x, from_h);
      const float fresh = f[1](from_x[2 * n + i] + bias_of_x(2, i) + sum[static_cast<size_t>(i)]);
      h[i] = (1 - keep) * fresh + keep * h[i];
    }
  }
};

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Recurrent p, recurrent_of(call, kGates, kDefaults));
  const auto n = static_cast<size_t>(p.hidden);
  for (int64_t d = 0; d < p.directions; ++d) {
    Cell cell{&p.functions[static_cast<size_t>(d) * kDefaults.size()],
              direction_part(call, p, kB, d),
              direction_part(call, p, kR, d) + 2 * p.hidden * p.hidden,
              p.hidden,
              call.node.int_attr("linear_before_reset", 0) != 0,
              std::vector<float>(n),
              std::vector<float>(n)};
    std::vector<float> h = initial_state(call, p, kInitialH, d);
    const auto step = [&](int64_t, const float* from_x, const float* from_h, float* state) {
      cell.update(from_x, from_h, state);
    };
    run_direction(call, p, d, step, h, outputs[0]);
    keep_state(h, p, d, outputs[1]);
  }
  return {};
}

// The cell above in terms.
StateTerms next(Steps& s, const GateFunction* f, bool reset_after, const RecurrentWeights& w,
                const Term& from_x, const Term& h) {
  const int64_t n = w.hidden;
  const auto rows = s.all("Split", {w.r, integers({2 * n, n})}, {{"axis", int64_t{0}}}, 2);
  const auto biases = w.bias.present ? s.cut(w.bias, {2 * n, n}) : std::vector<Term>(2, no_term());
  const auto sums = s.cut(from_x, {2 * n, n});
  const auto gates =
      s.cut(applied(s, f[0], sum_of(s, sums[0], from_state(s, h, rows[0], biases[0]))), {n, n});
  const Term &keep = gates[0], &reset = gates[1];
  const Term rest = reset_after ? product_of(s, reset, from_state(s, h, rows[1], biases[1]))
                                : from_state(s, product_of(s, reset, h), rows[1], biases[1]);
  const Term fresh = applied(s, f[1], sum_of(s, sums[1], rest));
  const Term open = s.one("Sub", {number(1), keep});
  return {sum_of(s, product_of(s, open, fresh), product_of(s, keep, h))};
}

std::vector<Term> steps(Steps& s) {
  const auto p = recurrent_of(s.call(), kGates, kDefaults);
  if (!p) return {};
  const bool reset_after = s.call().node.int_attr("linear_before_reset", 0) != 0;
  const std::array<size_t, 1> initial = {kInitialH};
  return recurrent_steps(s, *p, initial, [&](int64_t d) -> CellTerms {
    const GateFunction* f = &p->functions[static_cast<size_t>(d) * kDefaults.size()];
    return [&s, f, reset_after](const RecurrentWeights& w, const Term& from_x,
                                const StateTerms& state) {
      return next(s, f, reset_after, w, from_x, state[0]);
    };
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"GRU"},
    .since = 7,
    .inputs = "T T T T? i? T?",
    .types = "s",
    .attributes =
        "activation_alpha:F activation_beta:F activations:S clip:f "
        "direction:s=forward|reverse|bidirectional hidden_size:i layout:i linear_before_reset:i",
    .max_outputs = 2,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_gru
