#include "runtime/ops/support/recurrent.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/gemm.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH };

struct FunctionRow {
  std::string_view name;
  float (*function)(float x, float alpha, float beta);
  Term (*step)(Steps& s, const Term& x, double alpha, double beta);
  bool has_alpha = false, has_beta = false;
  double alpha = 0, beta = 0;  // defaults
};

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
float softplus(float x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

Term affine(Steps& s, const Term& x, double a, double b) {
  return s.one("Add", {s.one("Mul", {x, number(a)}), number(b)});
}
Term scaled_tanh(Steps& s, const Term& x, double a, double b) {
  return s.one("Mul", {s.one("Tanh", {s.one("Mul", {x, number(b)})}), number(a)});
}

constexpr FunctionRow kFunctions[] = {
    {"sigmoid", [](float x, float, float) { return sigmoid(x); },
     [](Steps& s, const Term& x, double, double) { return s.one("Sigmoid", {x}); }},
    {"tanh", [](float x, float, float) { return std::tanh(x); },
     [](Steps& s, const Term& x, double, double) { return s.one("Tanh", {x}); }},
    {"relu", [](float x, float, float) { return x < 0 ? 0 : x; },
     [](Steps& s, const Term& x, double, double) { return s.one("Relu", {x}); }},
    {"affine", [](float x, float a, float b) { return a * x + b; }, affine, true, true, 1, 0},
    {"leakyrelu", [](float x, float a, float) { return x < 0 ? a * x : x; },
     [](Steps& s, const Term& x, double a, double) {
       return s.one("LeakyRelu", {x}, {{"alpha", a}});
     },
     true, false, 0.01},
    {"thresholdedrelu", [](float x, float a, float) { return x > a ? x : 0; },
     [](Steps& s, const Term& x, double a, double) {
       return s.one("ThresholdedRelu", {x}, {{"alpha", a}});
     },
     true, false, 1},
    {"scaledtanh", [](float x, float a, float b) { return a * std::tanh(b * x); }, scaled_tanh,
     true, true, 1, 1},
    {"hardsigmoid", [](float x, float a, float b) { return std::clamp(a * x + b, 0.f, 1.f); },
     [](Steps& s, const Term& x, double a, double b) {
       return s.one("HardSigmoid", {x}, {{"alpha", a}, {"beta", b}});
     },
     true, true, 0.2, 0.5},
    {"elu", [](float x, float a, float) { return x < 0 ? a * std::expm1(x) : x; },
     [](Steps& s, const Term& x, double a, double) {
       return s.one("Elu", {x}, {{"alpha", a}});
     },
     true, false, 1},
    {"softsign", [](float x, float, float) { return x / (1 + std::fabs(x)); },
     [](Steps& s, const Term& x, double, double) { return s.one("Softsign", {x}); }},
    {"softplus", [](float x, float, float) { return softplus(x); },
     [](Steps& s, const Term& x, double, double) { return s.one("Softplus", {x}); }},
};

// Names do not depend on case, as in onnxruntime.
const FunctionRow* find_function(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const FunctionRow& row : kFunctions) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// activation_alpha and activation_beta hold values for the functions that take one, in order.
Result<std::vector<GateFunction>> functions_of(const OpCall& call, int64_t directions,
                                               std::span<const std::string_view> defaults) {
  std::vector<std::string> names;
  const auto found = call.node.attributes.find("activations");
  if (found != call.node.attributes.end())
    names = *found->second.get_if<std::vector<std::string>>();
  if (names.empty()) {
    for (int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != defaults.size() * static_cast<size_t>(directions))
    return bad_attribute(call, "activations");
  const double clip = call.node.float_attr("clip", 0);
  if (!(clip >= 0)) return bad_attribute(call, "clip");
  const auto* alphas = call.node.floats_attr("activation_alpha");
  const auto* betas = call.node.floats_attr("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<GateFunction> functions;
  for (const std::string& name : names) {
    const FunctionRow* row = find_function(name);
    if (!row) return bad_attribute(call, "activations");
    const auto next = [](bool has, const std::vector<double>* values, size_t& at, double fallback) {
      return static_cast<float>(has && values && at < values->size() ? (*values)[at++] : fallback);
    };
    GateFunction gate{row->function, row->step, 0, 0, static_cast<float>(clip)};
    gate.alpha = next(row->has_alpha, alphas, alpha, row->alpha);
    gate.beta = next(row->has_beta, betas, beta, row->beta);
    functions.push_back(gate);
  }
  return functions;
}

Status check_extents(const OpCall& call, const Recurrent& p) {
  const int64_t rows = p.gates * p.hidden;
  const Shape wanted[] = {{},
                          {p.directions, rows, p.input},
                          {p.directions, rows, p.hidden},
                          {p.directions, 2 * rows},
                          {p.batch},
                          p.state()};
  for (size_t i = kW; i <= kInitialH; ++i) {
    if (call.has(i) && call.shape(i) != wanted[i]) return misfit(call, kX, i);
  }
  if (call.has(kLengths) && call.type(kLengths).dtype != DType::kI32)
    return bad_type(call, kLengths);
  const int64_t hidden = call.node.int_attr("hidden_size", p.hidden);
  if (hidden != p.hidden) return bad_attribute(call, "hidden_size", hidden);
  return {};
}

}  // namespace

float GateFunction::operator()(float x) const {
  return function(clip > 0 ? std::clamp(x, -clip, clip) : x, alpha, beta);
}

Result<Recurrent> recurrent_of(const OpCall& call, int64_t gates,
                               std::span<const std::string_view> defaults) {
  const Node& node = call.node;
  const Shape &x = call.shape(kX), &r = call.shape(kR);
  if (x.size() != 3) return bad_shape(call, kX);
  // Such rows of gates as numbers hold.
  constexpr int64_t kMost = int64_t{1} << 40;
  if (r.size() != 3 || r[2] < 1 || r[2] > kMost) return bad_shape(call, kR);
  const std::string direction = node.string_attr("direction", "forward");
  Recurrent p;
  p.gates = gates;
  p.batch_first = node.int_attr("layout", 0) != 0;
  p.directions = direction == "bidirectional" ? 2 : 1;
  p.reverse = direction == "reverse";
  p.steps = x[p.batch_first ? 1 : 0];
  p.batch = x[p.batch_first ? 0 : 1];
  p.input = x[2];
  p.hidden = r[2];
  CLVET_RETURN_IF_ERROR(check_extents(call, p));
  CLVET_ASSIGN_OR_RETURN(p.functions, functions_of(call, p.directions, defaults));
  return p;
}

void round_dynamically(std::span<float> values) {
  float low = 0, high = 0;
  for (const float v : values) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const float scale = (high - low) / 255.f;
  if (!(scale > 0)) return;  // all of them are zero
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.f, 255.f));
  for (float& v : values)
    v = (std::clamp(std::nearbyint(v / scale) + zero, 0.f, 255.f) - zero) * scale;
}

const float* direction_part(const OpCall& call, const Recurrent& p, size_t i, int64_t d) {
  if (!call.has(i)) return nullptr;
  const Tensor& tensor = call.tensor(i);
  return tensor.data<float>() + d * (tensor.elements() / p.directions);
}

std::vector<float> initial_state(const OpCall& call, const Recurrent& p, size_t i, int64_t d) {
  std::vector<float> state(static_cast<size_t>(p.batch * p.hidden));
  for (int64_t b = 0; call.has(i) && b < p.batch; ++b) {
    std::copy_n(call.tensor(i).data<float>() + p.state_at(d, b), p.hidden, &state[b * p.hidden]);
  }
  return state;
}

void keep_state(const std::vector<float>& state, const Recurrent& p, int64_t d, Tensor& out) {
  for (int64_t b = 0; b < p.batch; ++b) {
    std::copy_n(&state[b * p.hidden], p.hidden, out.data<float>() + p.state_at(d, b));
  }
}

void run_direction(const OpCall& call, const Recurrent& p, int64_t d, const CellStep& step,
                   std::vector<float>& h, Tensor& all) {
  const int64_t rows = p.gates * p.hidden, n = p.hidden;
  const float *x = call.tensor(kX).data<float>(), *w = direction_part(call, p, kW, d),
              *r = direction_part(call, p, kR, d);
  const int32_t* lengths = call.has(kLengths) ? call.tensor(kLengths).data<int32_t>() : nullptr;
  std::vector<float> from_x(static_cast<size_t>(p.steps * p.batch * rows));
  std::vector<float> from_h(static_cast<size_t>(p.batch * rows)), rounded;
  if (from_h.empty()) return;
  gemm({x, p.steps * p.batch, p.input, p.input}, {w, p.input, rows, p.input, true}, from_x.data(),
       rows, false);
  for (int64_t s = 0; s < p.steps; ++s) {
    const float* state = h.data();
    if (p.rounds_state) {
      rounded = h;
      round_dynamically(rounded);
      state = rounded.data();
    }
    gemm({state, p.batch, n, n}, {r, n, rows, n, true}, from_h.data(), rows, false);
    for (int64_t b = 0; b < p.batch; ++b) {
      const int64_t length = lengths ? std::clamp<int64_t>(lengths[b], 0, p.steps) : p.steps;
      if (s >= length) continue;
      const int64_t t = p.backwards(d) ? length - 1 - s : s;
      const int64_t row = p.batch_first ? b * p.steps + t : t * p.batch + b;
      step(b, &from_x[row * rows], &from_h[b * rows], &h[b * n]);
      const int64_t to =
          p.batch_first ? row * p.directions + d : (t * p.directions + d) * p.batch + b;
      std::copy_n(&h[b * n], n, all.data<float>() + to * n);
    }
  }
}

}  // namespace clvet
