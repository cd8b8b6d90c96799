// SqueezeExcite (runtime/ops/contract/steps_domain.h): x times a gate for each channel of each
// image, made of the means of its channels by two layers.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_squeeze_excite {
namespace {

constexpr int64_t kSqueeze = 0, kExcite = 1;  // parts of the constants

struct Problem {
  int64_t n, c, pixels, m;
};

// One of the two layers: its filters [outputs, inputs, 1...] and, where it has one, its bias.
struct Layer {
  int64_t inputs, outputs;
  size_t w, bias;
};
Layer layer_of(const Problem& p, int64_t part) {
  return part == kSqueeze ? Layer{p.c, p.m, 1, 3} : Layer{p.m, p.c, 2, 4};
}

Result<Problem> problem_of(const OpCall& call) {
  const Shape& x = call.shape(0);
  const auto refused = [&] {
    return fail(ErrorCode::kInvalidArgument, "{} does not take an input of the shape {}",
                call.node.op, to_string(x));
  };
  if (x.size() < 3 || call.shape(1).size() < 2) return refused();
  const Problem p{x[0], x[1], elements_of(Shape(x.begin() + 2, x.end())), call.shape(1)[0]};
  for (const int64_t part : {kSqueeze, kExcite}) {
    const Layer layer = layer_of(p, part);
    const Shape& w = call.shape(layer.w);
    const bool fits = w.size() >= 2 && w[0] == layer.outputs && w[1] == layer.inputs &&
                      elements_of(w) == layer.outputs * layer.inputs;
    if (!fits || (call.has(layer.bias) && call.shape(layer.bias) != Shape{layer.outputs}))
      return refused();
  }
  return p;
}

Result<Types> infer(const OpCall& call) {
  if (const auto problem = problem_of(call); !problem) return tl::unexpected(problem.error());
  return Types{{call.type(0).dtype, call.shape(0)}};
}

// What the names of its activation's code and parameters begin with.
const char* stem_of(int64_t part) { return part == kSqueeze ? "squeeze_" : "gate_"; }

Activation activation_of_layer(const Node& node, int64_t part) {
  const std::string act = std::string(stem_of(part)) + "act";
  return {static_cast<Act>(node.int_attr(act, 0)), node.float_attr(act + "_lo", 0),
          node.float_attr(act + "_hi", 0)};
}

std::vector<double> layer_on_host(const OpCall& call, const Layer& layer, const Activation& act,
                                  const std::vector<double>& x) {
  const float* w = call.tensor(layer.w).data<float>();
  const float* bias = call.has(layer.bias) ? call.tensor(layer.bias).data<float>() : nullptr;
  std::vector<double> y(static_cast<size_t>(layer.outputs));
  for (size_t j = 0; j < y.size(); ++j, w += layer.inputs) {
    const double z = std::inner_product(x.begin(), x.end(), w, bias ? double{bias[j]} : 0.0);
    y[j] = apply_act(act.act, act.lo, act.hi, z);
  }
  return y;
}

// Values that are worth waking a thread.
constexpr int64_t kGrain = 20'000;

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  if (outputs[0].elements() == 0) return {};
  const float* x = call.tensor(0).data<float>();
  float* y = outputs[0].data<float>();
  const int64_t grain = 1 + kGrain / p.pixels;
  for (int64_t n = 0; n < p.n; ++n, x += p.c * p.pixels, y += p.c * p.pixels) {
    std::vector<double> means(static_cast<size_t>(p.c));
    parallel_for(p.c, grain, [&](int64_t first, int64_t end) {
      for (int64_t c = first; c < end; ++c) {
        const float* plane = x + c * p.pixels;
        means[static_cast<size_t>(c)] =
            std::accumulate(plane, plane + p.pixels, 0.0) / static_cast<double>(p.pixels);
      }
    });
    std::vector<double> gate = std::move(means);
    for (const int64_t part : {kSqueeze, kExcite})
      gate = layer_on_host(call, layer_of(p, part), activation_of_layer(call.node, part), gate);
    parallel_for(p.c, grain, [&](int64_t first, int64_t end) {
      for (int64_t i = first * p.pixels; i < end * p.pixels; ++i)
        y[i] = x[i] * static_cast<float>(gate[static_cast<size_t>(i / p.pixels)]);
    });
  }
  return {};
}

// What the call before made.
LoweredInput made(const char* role, int call) { return {role, -1 - call, View::kChannelsLast}; }

LoweredCall mean_call(const Nhwc& view) {
  LoweredCall call;
  call.op = "pool_global";
  put_nhwc(view, call.dims);
  call.dims["kind"] = 1;
  call.inputs = {{"x", 0, View::kChannelsFirst}};
  call.output = kTemporary;
  return call;
}

LoweredCall layer_call(const OpCall& call, const Problem& p, int64_t part) {
  const Layer layer = layer_of(p, part);
  LoweredCall lowered;
  lowered.op = "gemm";
  lowered.dims = {{"M", p.n}, {"N", layer.outputs}, {"K", layer.inputs}, {"W", 1}};
  put_activation(activation_of_layer(call.node, part), lowered);
  lowered.inputs = {made("x", static_cast<int>(part))};
  lowered.constants = {{"w", part}, {"bias", part}};
  lowered.output = kTemporary;
  return lowered;
}

LoweredCall gate_call(const OpCall& call) {
  Shape gates = call.shape(0);
  for (size_t axis = 2; axis < gates.size(); ++axis) gates[axis] = 1;
  LoweredCall lowered = binary_call(call.shape(0), gates, EltwiseCode::kMul, View::kChannelsFirst);
  put_activation(call.node.activation, lowered);
  lowered.inputs = {{"x1", 0, View::kChannelsFirst}, made("x2", 2)};
  return lowered;
}

// All of it at once.
LoweredCall whole_call(const OpCall& call, const Problem& p, const Nhwc& view) {
  LoweredCall lowered;
  lowered.op = "squeeze_excite";
  put_nhwc(view, lowered.dims);
  lowered.dims["M"] = p.m;
  put_activation(call.node.activation, lowered);
  for (const int64_t part : {kSqueeze, kExcite})
    put_activation(activation_of_layer(call.node, part), lowered, stem_of(part));
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  lowered.constants = {{"squeeze_w", kSqueeze},
                       {"squeeze_bias", kSqueeze},
                       {"excite_w", kExcite},
                       {"excite_bias", kExcite}};
  return lowered;
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto problem = problem_of(call);
  if (!problem) return host_only(problem.error().message);
  const auto view = view_of(call.shape(0), View::kChannelsFirst);
  if (!view) return host_only("kernels support at most two spatial axes");
  Lowering lowering = kernel_calls({mean_call(*view), layer_call(call, *problem, kSqueeze),
                                    layer_call(call, *problem, kExcite), gate_call(call)});
  lowering.others = {{{whole_call(call, *problem, *view)}}};
  return lowering;
}

// Filters as rows of an input, `pitch` outputs each.
Values rows_of(const Values& filters, const Layer& layer, int64_t pitch) {
  Values rows(static_cast<size_t>(layer.inputs * pitch));
  for (int64_t o = 0; o < layer.outputs; ++o) {
    for (int64_t i = 0; i < layer.inputs; ++i)
      rows[static_cast<size_t>(i * pitch + o)] = filters[static_cast<size_t>(o * layer.inputs + i)];
  }
  return rows;
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  const Layer layer = layer_of(*problem_of(call), which.part);
  if (which.role.ends_with("bias")) {
    if (call.has(layer.bias)) return call.inputs[layer.bias].value->to_f64();
    return Values(static_cast<size_t>(layer.outputs), 0.0);
  }
  constexpr int64_t kLanes = 4;
  const int64_t pitch = which.role == "w" ? layer.outputs : round_up(layer.outputs, kLanes);
  return rows_of(call.inputs[layer.w].value->to_f64(), layer, pitch);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kSqueezeExcite.data()},
    .domain = kStepsDomain,
    .inputs = "T T T T? T?",
    .wants_known = {1, 2, 3, 4},
    .attributes =
        "squeeze_act:i squeeze_act_lo:f squeeze_act_hi:f gate_act:i gate_act_lo:f gate_act_hi:f",
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_squeeze_excite
