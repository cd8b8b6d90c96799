// BatchNormalization: y = x * scale + shift for each channel, both formed in
// float64 (variances of 1e8 occur in real models).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/normalization.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_batch_normalization {
namespace {

bool trains(const Node& node) { return node.int_attr("training_mode", 0) != 0; }

Status normalise(const OpCall& call, Tensor& out) {
  const ChannelAffine affine = batch_normalization_affine(call);
  const auto channels = static_cast<int64_t>(affine.scale.size());
  const int64_t batch = call.shape(0).empty() ? 1 : call.shape(0)[0];
  const int64_t size = out.elements() / std::max<int64_t>(channels * batch, 1);
  return visit_floats(out.dtype(), [&]<class T>() {
    const T* x = call.tensor(0).data<T>();
    T* y = out.data<T>();
    for (int64_t p = 0; p < batch * channels; ++p) {
      const double scale = affine.scale[p % channels], shift = affine.shift[p % channels];
      for (int64_t i = p * size; i < (p + 1) * size; ++i) {
        y[i] = static_cast<T>(static_cast<double>(x[i]) * scale + shift);
      }
    }
  });
}

Result<Types> infer(const OpCall& call) {
  const Shape& shape = call.shape(0);
  const int64_t channels = shape.size() > 1 ? shape[1] : 1;
  for (size_t i = 1; i < 5; ++i) {
    if (call.shape(i) != Shape{channels}) {
      return fail(ErrorCode::kInvalidArgument,
                  "BatchNormalization's input {} and parameter {} do not fit together",
                  to_string(shape), to_string(call.shape(i)));
    }
  }
  if (call.node.opset < 9 && call.node.int_attr("spatial", 1) == 0) {
    return fail(ErrorCode::kUnsupported, "BatchNormalization with spatial = 0 is not supported");
  }
  if (call.node.outputs.size() > 1 && !trains(call.node)) {
    return fail(
        ErrorCode::kUnsupported,
        "BatchNormalization with outputs of statistics is supported only in training; export "
        "the model for inference");
  }
  return Types{call.type(0), call.type(3), call.type(4)};
}

struct Plan {
  int64_t batch, channels, size;
};

Plan plan_of(const OpCall& call) {
  const Shape& shape = call.shape(0);
  Plan plan{shape.empty() ? 1 : shape[0], call.shape(1)[0], 1};
  plan.size = elements_of(shape) / std::max<int64_t>(plan.batch * plan.channels, 1);
  return plan;
}

// Of each channel of the batch, as f64.
struct Statistics {
  Tensor mean, variance;
};

Result<Statistics> statistics_of(const OpCall& call) {
  const Plan plan = plan_of(call);
  Statistics out;
  CLVET_ASSIGN_OR_RETURN(out.mean, Tensor::create(DType::kF64, {plan.channels}));
  CLVET_ASSIGN_OR_RETURN(out.variance, Tensor::create(DType::kF64, {plan.channels}));
  const std::vector<double> x = call.tensor(0).to_f64();
  const auto each = [&](int64_t c, auto&& fn) {
    for (int64_t n = 0; n < plan.batch; ++n) {
      const int64_t first = (n * plan.channels + c) * plan.size;
      for (int64_t i = first; i < first + plan.size; ++i) fn(x[i]);
    }
  };
  const auto count = static_cast<double>(std::max<int64_t>(plan.batch * plan.size, 1));
  for (int64_t c = 0; c < plan.channels; ++c) {
    double &m = out.mean.data<double>()[c], &v = out.variance.data<double>()[c];
    each(c, [&](double value) { m += value / count; });
    each(c, [&](double value) { v += (value - m) * (value - m) / count; });
  }
  return out;
}

Result<Tensor> moved_towards(const Tensor& batch, const Tensor& running, double momentum) {
  Tensor out = batch;
  const std::vector<double> old = running.to_f64();
  for (int64_t c = 0; c < out.elements(); ++c) {
    double& value = out.data<double>()[c];
    value = old[c] * momentum + value * (1 - momentum);
  }
  return out.cast(running.dtype());
}

// Training: the batch's own statistics normalise, and move the running ones.
Status host_training(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Statistics batch, statistics_of(call));
  const double momentum = call.node.float_attr("momentum", 0.9);
  OpCall inner = call;
  inner.inputs[3].value = &batch.mean;
  inner.inputs[4].value = &batch.variance;
  CLVET_RETURN_IF_ERROR(normalise(inner, outputs[0]));
  CLVET_ASSIGN_OR_RETURN(outputs[1], moved_towards(batch.mean, call.tensor(3), momentum));
  CLVET_ASSIGN_OR_RETURN(outputs[2], moved_towards(batch.variance, call.tensor(4), momentum));
  return {};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return trains(call.node) ? host_training(call, outputs) : normalise(call, outputs[0]);
}

Values scale_values(const OpCall& call) { return batch_normalization_affine(call).scale; }
Values shift_values(const OpCall& call) { return batch_normalization_affine(call).shift; }

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  if (trains(call.node)) return host_only("it is in training mode");
  for (size_t i = 1; i < 5; ++i) {
    if (!call.inputs[i].value) return host_only("its parameters are computed at run time");
  }
  const auto view = view_of(call.shape(0), View::kChannelsFirst);
  if (!view) return host_only("kernels support at most two spatial axes");
  LoweredCall lowered;
  lowered.op = "depthwise";
  put_nhwc(*view, lowered.dims);
  lowered.dims["OH"] = view->h;
  lowered.dims["OW"] = view->w;
  for (const char* one : {"KH", "KW", "stride_h", "stride_w", "dil_h", "dil_w"}) {
    lowered.dims[one] = 1;
  }
  lowered.dims["pad_top"] = lowered.dims["pad_left"] = 0;
  put_activation(call.node.activation, lowered);
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  lowered.constants = {{"w"}, {"bias"}};
  return kernel_call(std::move(lowered));
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  return which.role == "w" ? scale_values(call) : shift_values(call);
}

// In training, or with parameters that are computed at run time.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const Shape& shape = call.shape(0);
  if (shape.size() < 2 || elements_of(shape) == 0) return {};
  Shape apart(shape.size(), 1);
  apart[1] = shape[1];
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < std::ssize(shape); ++i) {
    if (i != 1) axes.push_back(i);
  }
  const auto parameter = [&](size_t i) { return s.reshaped(s.input(i), apart); };
  const Term x = s.input(0);
  const bool training = trains(call.node);
  const Term mean = training ? s.reduced("ReduceMean", x, axes) : parameter(3);
  const Term centred = s.one("Sub", {x, mean});
  const Term variance =
      training ? s.reduced("ReduceMean", s.one("Mul", {centred, centred}), axes) : parameter(4);
  const Term deviation = s.one(
      "Sqrt", {s.one("Add", {variance, number(call.node.float_attr("epsilon", kNormEpsilon))})});
  const Term factor = s.one("Div", {parameter(1), deviation});
  const Term y = s.one("Add", {s.one("Mul", {centred, factor}), parameter(2)});
  if (!training) return {y};
  const double momentum = call.node.float_attr("momentum", 0.9);
  const auto moved = [&](size_t running, const Term& batch) {
    const Term old = s.one("Mul", {s.input(running), number(momentum)});
    const Term fresh = s.one("Mul", {s.reshaped(batch, call.shape(running)), number(1 - momentum)});
    return s.one("Add", {old, fresh});
  };
  return {y, moved(3, mean), moved(4, variance)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"BatchNormalization"},
    .since = 7,
    .inputs = "f f f f f",
    .wants_known = {1, 2, 3, 4},
    .attributes = "epsilon:f momentum:f spatial:i training_mode:i",
    .max_outputs = 5,
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
    .constant = constant,
};

}  // namespace clvet::op_batch_normalization
