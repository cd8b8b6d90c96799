// Conv: one to three spatial axes, any group. Products with what the windows see; depthwise
// directly. On a device, three axes are planes (support/volume.h).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/matrix.h"
#include "runtime/host/product.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/depthwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/volume.h"
#include "runtime/ops/support/window.h"
#include "runtime/ops/support/window_matrix.h"
#include "runtime/ops/support/winograd.h"

namespace clvet::op_conv {
namespace {

struct Problem {
  SlidingWindow window;
  int64_t n, c, oc, group;
  int64_t cg() const { return c / group; }
  int64_t ocg() const { return oc / group; }
  bool depthwise() const { return group == c && group > 1; }
  bool pointwise() const {
    return window.taps() == 1 && window.stride == Extent3{1, 1, 1} && window.in == window.out;
  }
};

Result<Problem> problem_of(const OpCall& call) {
  const Shape &x = call.shape(0), &w = call.shape(1);
  if (x.size() < 3 || x.size() != w.size()) {
    return fail(ErrorCode::kInvalidArgument, "Conv's input {} and weights {} do not fit together",
                to_string(x), to_string(w));
  }
  CLVET_ASSIGN_OR_RETURN(SlidingWindow window,
                         window_of(call.node, x, Shape(w.begin() + 2, w.end())));
  const Problem problem{window, x[0], x[1], w[0], call.node.int_attr("group", 1)};
  if (problem.group < 1 || problem.c % problem.group || problem.oc % problem.group ||
      w[1] != problem.cg()) {
    return fail(ErrorCode::kInvalidArgument,
                "Conv's input {} and weights {} do not fit together in {} groups", to_string(x),
                to_string(w), problem.group);
  }
  if (call.has(2) && call.shape(2) != Shape{problem.oc}) {
    return fail(ErrorCode::kInvalidArgument, "Conv's bias {} does not fit {} channels",
                to_string(call.shape(2)), problem.oc);
  }
  return problem;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem problem, problem_of(call));
  return Types{{call.type(0).dtype, problem.window.output_shape({problem.n, problem.oc})}};
}

// One product for each image and group: weights times what the windows see.
void grouped(const Problem& p, const ConvTensors& t, const Activation& activation) {
  const int64_t k = p.cg() * p.window.taps(), size = p.window.out_size();
  std::vector<StoredMatrix> stored;
  std::vector<WindowMatrix> seen;
  for (int64_t i = 0; i < p.n * p.group; ++i) {
    const float* in = t.x + i * p.cg() * p.window.in_size();
    if (p.pointwise())
      stored.emplace_back(MatrixView{in, k, size, size});
    else
      seen.emplace_back(p.window, in);
  }
  std::vector<Product> products;
  for (int64_t i = 0; i < p.n * p.group; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t first = i % p.group * p.ocg();
    Product product{.a = {t.w + first * k, p.ocg(), k, k}, .columns = size};
    if (p.pointwise())
      product.b = &stored[at];
    else
      product.b = &seen[at];
    product.c = t.y + i * p.ocg() * size;
    product.stride = size;
    product.row_bias = t.bias ? t.bias + first : nullptr;
    product.activation = activation;
    products.push_back(product);
  }
  multiply(products);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(Problem p, problem_of(call));
  if (outputs[0].elements() == 0) return {};
  p.window = p.window.compact();
  const ConvTensors tensors{call.tensor(0).data<float>(), call.tensor(1).data<float>(),
                            call.has(2) ? call.tensor(2).data<float>() : nullptr,
                            outputs[0].data<float>()};
  if (p.depthwise())
    depthwise(p.window, {p.n, p.c, p.ocg()}, tensors, call.node.activation);
  else
    grouped(p, tensors, call.node.activation);
  return {};
}

// OIHW as [tap][cin][cout].
Values dense_weights(const OpCall& call) {
  const Shape& shape = call.shape(1);
  const std::vector<double> w = call.inputs[1].value->to_f64();
  const int64_t oc = shape[0], ic = shape[1],
                taps = elements_of(shape) / std::max<int64_t>(oc * ic, 1);
  Values out(w.size());
  for (int64_t o = 0; o < oc; ++o) {
    for (int64_t i = 0; i < ic; ++i) {
      for (int64_t t = 0; t < taps; ++t) out[(t * ic + i) * oc + o] = w[(o * ic + i) * taps + t];
    }
  }
  return out;
}

Values bias_values(const OpCall& call) {
  if (call.has(2)) return call.inputs[2].value->to_f64();
  return Values(static_cast<size_t>(call.shape(1)[0]), 0.0);
}

// Of a network's first layer: planes that are read where they are need not be put in another order.
constexpr int64_t kFewPlanes = 4;

std::optional<OtherCalls> way_of_planes(const OpCall& call, const LoweredCall& conv) {
  const bool few = conv.op == "conv2d" && conv.dims.at("C") <= kFewPlanes;
  const bool windows = conv.dims.at("KH") * conv.dims.at("KW") > 1;
  if (!few || !windows || call.shape(0).size() != 4) return std::nullopt;
  LoweredCall planes = conv;
  planes.op = "conv2d_planes";
  planes.inputs[0].view = View::kChannelsLast;
  return OtherCalls{{std::move(planes)}, 1};
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto problem = problem_of(call);
  if (!problem) return host_only(problem.error().message);
  if (!call.inputs[1].value || (call.has(2) && !call.inputs[2].value)) {
    return host_only("its weights are computed at run time");
  }
  LoweredCall lowered;
  if (!window_dims(problem->window, lowered.dims))
    return host_only("kernels support at most two spatial axes");
  const bool depthwise = problem->depthwise() && problem->oc == problem->c;
  lowered.op = depthwise ? "depthwise" : problem->group > 1 ? "conv2d_group" : "conv2d";
  if (problem->group > 1 && !depthwise) lowered.dims["G"] = problem->group;
  lowered.dims["N"] = problem->n;
  lowered.dims["C"] = problem->c;
  if (!depthwise) lowered.dims["OC"] = problem->oc;
  put_activation(call.node.activation, lowered);
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  lowered.constants = {{"w"}, {"bias"}};
  lowered.view = View::kChannelsFirst;
  Lowering lowering = kernel_call(std::move(lowered));
  lowering.others = winograd_ways(lowering.calls[0]);
  if (auto planes = way_of_planes(call, lowering.calls[0]))
    lowering.others.push_back(std::move(*planes));
  return lowering;
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  if (which.role != "w") return bias_values(call);
  Values weights = dense_weights(call);
  return which.part == kWinogradPart ? winograd_weights(weights) : weights;
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto problem = problem_of(call);
  Dims planes;
  if (!problem || !call.inputs[1].value || window_dims(problem->window, planes)) return {};
  return volume(s, problem->window);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Conv"},
    .inputs = "T T T?",
    .types = "s",
    .wants_known = {1, 2},
    .attributes =
        "auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID dilations:I group:i kernel_shape:I pads:I "
        "strides:I",
    .fills_floats = true,
    .activates = true,
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
    .constant = constant,
};

}  // namespace clvet::op_conv
