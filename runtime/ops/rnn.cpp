// RNN.
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
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_rnn {
namespace {

constexpr std::array<std::string_view, 1> kDefaults = {"Tanh"};
enum Input : size_t { kB = 3, kInitialH = 5 };

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Recurrent p, recurrent_of(call, 1, kDefaults));
  const DType dtype = call.type(0).dtype;
  return Types{{dtype, p.all()}, {dtype, p.state()}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Recurrent p, recurrent_of(call, 1, kDefaults));
  for (int64_t d = 0; d < p.directions; ++d) {
    const GateFunction& f = p.functions[static_cast<size_t>(d)];
    const float* bias = direction_part(call, p, kB, d);
    std::vector<float> h = initial_state(call, p, kInitialH, d);
    const auto step = [&](int64_t, const float* from_x, const float* from_h, float* state) {
      for (int64_t i = 0; i < p.hidden; ++i)
        state[i] = f(from_x[i] + from_h[i] + (bias ? bias[i] + bias[p.hidden + i] : 0));
    };
    run_direction(call, p, d, step, h, outputs[0]);
    keep_state(h, p, d, outputs[1]);
  }
  return {};
}

std::vector<Term> steps(Steps& s) {
  const auto p = recurrent_of(s.call(), 1, kDefaults);
  if (!p) return {};
  const std::array<size_t, 1> initial = {kInitialH};
  return recurrent_steps(s, *p, initial, [&](int64_t d) -> CellTerms {
    return [&s, f = p->functions[static_cast<size_t>(d)]](
               const RecurrentWeights& w, const Term& from_x, const StateTerms& state) {
      return StateTerms{applied(s, f, sum_of(s, from_x, from_state(s, state[0], w.r, w.bias)))};
    };
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"RNN"},
    .since = 7,
    .inputs = "T T T T? i? T?",
    .types = "s",
    .attributes =
        "activation_alpha:F activation_beta:F activations:S clip:f "
        "direction:s=forward|reverse|bidirectional hidden_size:i layout:i",
    .max_outputs = 2,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_rnn
