// LayerNormalization: over all axes from `axis` on, statistics in float64.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_layer_normalization {
namespace {

constexpr double kEpsilon = 1e-5;  // what ONNX takes where there is none

Result<int64_t> axis_of(const OpCall& call) {
  return normal_axis(call.node.int_attr("axis", -1), static_cast<int64_t>(call.shape(0).size()));
}

// The shape of x's axes from `axis` on.
Shape row_of(const OpCall& call, int64_t axis) {
  return {call.shape(0).begin() + axis, call.shape(0).end()};
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  for (size_t i = 1; i < 3; ++i) {
    if (!call.has(i)) continue;
    const auto joint = broadcast(row_of(call, axis), call.shape(i));
    if (!joint || *joint != row_of(call, axis)) {
      return fail(ErrorCode::kInvalidArgument,
                  "LayerNormalization's input {} and parameter {} do not fit together",
                  to_string(call.shape(0)), to_string(call.shape(i)));
    }
  }
  Shape moments = call.shape(0);
  for (size_t i = static_cast<size_t>(axis); i < moments.size(); ++i) moments[i] = 1;
  return Types{call.type(0), {DType::kF32, moments}, {DType::kF32, moments}};
}

// A parameter for each value of a row; 1 or 0 where it is absent.
Values parameter(const OpCall& call, size_t input, const Shape& row) {
  if (!call.has(input))
    return Values(static_cast<size_t>(elements_of(row)), input == 1 ? 1.0 : 0.0);
  const Values given = call.tensor(input).to_f64();
  const std::vector<int64_t> steps[1] = {broadcast_strides(call.shape(input), row)};
  Values values;
  for_each_row(row, steps, [&](const int64_t(&offsets)[1]) {
    for (int64_t i = 0; i < row.back(); ++i) {
      values.push_back(given[static_cast<size_t>(offsets[0] + i * steps[0].back())]);
    }
  });
  return values;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  const Shape row = row_of(call, axis);
  const int64_t length = elements_of(row);
  const Values scale = parameter(call, 1, row), bias = parameter(call, 2, row);
  const double epsilon = call.node.float_attr("epsilon", kEpsilon);
  return visit_floats(outputs[0].dtype(), [&]<class T>() {
    const T* x = call.tensor(0).data<T>();
    T* y = outputs[0].data<T>();
    for (int64_t r = 0; length > 0 && r < outputs[0].elements() / length; ++r) {
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < length; ++i) sum += static_cast<double>(x[r * length + i]);
      const double mean = sum / static_cast<double>(length);
      for (int64_t i = 0; i < length; ++i) {
        const double d = static_cast<double>(x[r * length + i]) - mean;
        squares += d * d;
      }
      const double factor = 1 / std::sqrt(squares / static_cast<double>(length) + epsilon);
      for (int64_t i = 0; i < length; ++i) {
        const auto at = static_cast<size_t>(i);
        const double d = static_cast<double>(x[r * length + i]) - mean;
        y[r * length + i] = static_cast<T>(d * factor * scale[at] + bias[at]);
      }
      if (outputs.size() > 1) outputs[1].data<float>()[r] = static_cast<float>(mean);
      if (outputs.size() > 2) outputs[2].data<float>()[r] = static_cast<float>(factor);
    }
  });
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  if (call.node.outputs.size() > 1) return host_only("its statistics are asked for");
  const auto rank = call.shape(0).size();
  const auto axis = axis_of(call);
  if (!axis) return host_only(axis.error().message);
  if (*axis + 1 != static_cast<int64_t>(rank)) return host_only("it is over several axes");
  if (rank > kMaxViewRank) return host_only("a tensor has too many axes");
  for (size_t i = 1; i < 3; ++i) {
    if (call.has(i) && !call.inputs[i].value) return host_only("a parameter is not constant");
  }
  LoweredCall lowered;
  lowered.op = "layer_norm";
  const Nhwc rows = *view_of(call.shape(0), View::kChannelsLast);
  lowered.dims = {{"M", rows.rows()}, {"W", rows.w}, {"C", rows.c}, {"rms", 0}};
  lowered.scalars = {{"epsilon", call.node.float_attr("epsilon", kEpsilon)}};
  lowered.inputs = {{"x", 0, View::kChannelsLast}};
  lowered.constants = {{"scale"}, {"bias"}};
  lowered.view = View::kChannelsLast;
  return kernel_call(std::move(lowered));
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  const auto axis = axis_of(call);
  return axis ? parameter(call, which.role == "scale" ? 1 : 2, row_of(call, *axis)) : Values{};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"LayerNormalization"},
    .since = 17,
    .inputs = "T T T?",
    .wants_known = {1, 2},
    .attributes = "axis:i epsilon:f stash_type:i",
    .max_outputs = 3,
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_layer_normalization
