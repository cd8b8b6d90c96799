// LSTM with the default activations: forward, reverse and bidirectional.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/gemm.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_lstm {
namespace {

struct Problem {
  int64_t steps, batch, input, hidden, directions;
  bool batch_first, reverse;
  Shape state() const {
    return batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  }
};

Status check_extents(const OpCall& call, const Problem& p) {
  const auto wants = [&](size_t i, const Shape& shape) {
    return !call.has(i) || call.shape(i) == shape;
  };
  if (!wants(1, {p.directions, 4 * p.hidden, p.input}) ||
      !wants(2, {p.directions, 4 * p.hidden, p.hidden}) ||
      !wants(3, {p.directions, 8 * p.hidden}) || !wants(4, {p.batch}) || !wants(5, p.state()) ||
      !wants(6, p.state()) || !wants(7, {p.directions, 3 * p.hidden})) {
    return fail(ErrorCode::kInvalidArgument, "LSTM's other inputs do not fit its input {}",
                to_string(call.shape(0)));
  }
  const int64_t hidden = call.node.int_attr("hidden_size", p.hidden);
  if (hidden == p.hidden) return {};
  return fail(ErrorCode::kInvalidArgument, "LSTM's hidden_size is {}, but its weights are for {}",
              hidden, p.hidden);
}

Status check_supported(const OpCall& call) {
  if (call.has(4) && call.type(4).dtype != DType::kI32) {
    return fail(ErrorCode::kUnsupported, "LSTM's sequence_lens must be of the type i32, not {}",
                to_string(call.type(4).dtype));
  }
  for (const char* odd : {"activations", "activation_alpha", "clip", "input_forget"}) {
    if (call.node.attributes.contains(odd) && call.node.int_attr(odd, 1) != 0) {
      return fail(ErrorCode::kUnsupported, "LSTM's attribute {} is not supported", odd);
    }
  }
  return {};
}

Result<Problem> problem_of(const OpCall& call) {
  const Node& node = call.node;
  const Shape &x = call.shape(0), &w = call.shape(1), &r = call.shape(2);
  const std::string direction = node.string_attr("direction", "forward");
  Problem p{};
  p.batch_first = node.int_attr("layout", 0) != 0;
  p.directions = direction == "bidirectional" ? 2 : 1;
  p.reverse = direction == "reverse";
  if (x.size() != 3 || w.size() != 3 || r.size() != 3 || r[2] < 1) {
    return fail(ErrorCode::kInvalidArgument,
                "LSTM's input {} and weights {} and {} do not fit together", to_string(x),
                to_string(w), to_string(r));
  }
  p.steps = x[p.batch_first ? 1 : 0];
  p.batch = x[p.batch_first ? 0 : 1];
  p.input = x[2];
  p.hidden = r[2];
  CLVET_RETURN_IF_ERROR(check_extents(call, p));
  CLVET_RETURN_IF_ERROR(check_supported(call));
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  const DType dtype = call.type(0).dtype;
  const Shape all = p.batch_first ? Shape{p.batch, p.steps, p.directions, p.hidden}
                                  : Shape{p.steps, p.directions, p.batch, p.hidden};
  return Types{{dtype, all}, {dtype, p.state()}, {dtype, p.state()}};
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// One direction; every pointer is to that direction's part.
struct Direction {
  const Problem& p;
  const float *w, *r, *bias, *peephole;
  const int32_t* lengths;
  bool backwards;
  std::vector<float> h, c, gates;

  int64_t state_at(int64_t d, int64_t b) const {
    return (p.batch_first ? b * p.directions + d : d * p.batch + b) * p.hidden;
  }

  void start(const OpCall& call, int64_t d) {
    h.assign(static_cast<size_t>(p.batch * p.hidden), 0);
    c = h;
    gates.resize(h.size() * 4);
    for (int64_t b = 0; b < p.batch; ++b) {
      if (call.has(5))
        std::copy_n(call.tensor(5).data<float>() + state_at(d, b), p.hidden, &h[b * p.hidden]);
      if (call.has(6))
        std::copy_n(call.tensor(6).data<float>() + state_at(d, b), p.hidden, &c[b * p.hidden]);
    }
  }

  // Gates of ONNX: input, output, forget, cell.
  void update(int64_t b) {
    const int64_t n = p.hidden;
    const float* g = &gates[b * 4 * n];
    for (int64_t i = 0; i < n; ++i) {
      float &cell = c[b * n + i], &out = h[b * n + i];
      const auto gate = [&](int64_t k) {
        return g[k * n + i] + (bias ? bias[k * n + i] + bias[(k + 4) * n + i] : 0);
      };
      const float pi = peephole ? peephole[i] * cell : 0,
                  pf = peephole ? peephole[2 * n + i] * cell : 0;
      cell = sigmoid(gate(2) + pf) * cell + sigmoid(gate(0) + pi) * std::tanh(gate(3));
      out = sigmoid(gate(1) + (peephole ? peephole[n + i] * cell : 0)) * std::tanh(cell);
    }
  }

  void run(const Tensor& x, int64_t d, Tensor& all) {
    const int64_t n = p.hidden, row = p.batch_first ? p.steps * p.input : p.input;
    for (int64_t s = 0; s < p.steps; ++s) {
      gemm({h.data(), p.batch, n, n}, {r, n, 4 * n, n, true}, gates.data(), 4 * n, false);
      for (int64_t b = 0; b < p.batch; ++b) {
        const int64_t length = lengths ? std::clamp<int64_t>(lengths[b], 0, p.steps) : p.steps;
        if (s >= length) continue;
        const int64_t t = backwards ? length - 1 - s : s;
        const float* in =
            x.data<float>() + (p.batch_first ? b * row + t * p.input : (t * p.batch + b) * p.input);
        gemm({in, 1, p.input, p.input}, {w, p.input, 4 * n, p.input, true}, &gates[b * 4 * n],
             4 * n, true);
        update(b);
        const int64_t at = p.batch_first ? (b * p.steps + t) * p.directions + d
                                         : (t * p.directions + d) * p.batch + b;
        std::copy_n(&h[b * n], n, all.data<float>() + at * n);
      }
    }
  }
};

Direction direction_of(const OpCall& call, const Problem& p, int64_t d) {
  const auto part = [&](size_t i) {
    const Tensor& tensor = call.tensor(i);
    return tensor.data<float>() + d * (tensor.elements() / p.directions);
  };
  return {p,
          part(1),
          part(2),
          call.has(3) ? part(3) : nullptr,
          call.has(7) ? part(7) : nullptr,
          call.has(4) ? call.tensor(4).data<int32_t>() : nullptr,
          p.reverse || d == 1,
          {},
          {},
          {}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  for (int64_t d = 0; d < p.directions; ++d) {
    Direction direction = direction_of(call, p, d);
    direction.start(call, d);
    direction.run(call.tensor(0), d, outputs[0]);
    for (int64_t b = 0; b < p.batch; ++b) {
      const int64_t to = direction.state_at(d, b);
      std::copy_n(&direction.h[b * p.hidden], p.hidden, outputs[1].data<float>() + to);
      std::copy_n(&direction.c[b * p.hidden], p.hidden, outputs[2].data<float>() + to);
    }
  }
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"LSTM"},
    .since = 7,
    .inputs = "T T T T? i? T? T? T?",
    .types = "s",
    .attributes =
        "activation_alpha:F activation_beta:F activations:S clip:f "
        "direction:s=forward|reverse|bidirectional "
        "hidden_size:i input_forget:i layout:i",
    .max_outputs = 3,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_lstm
