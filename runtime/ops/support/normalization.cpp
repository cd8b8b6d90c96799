#include "runtime/ops/support/normalization.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

Result<int64_t> axis_of(const OpCall& call) { return axis_attribute(call, "axis", -1); }

// The shape of x's axes from `axis` on.
Shape row_of(const OpCall& call, int64_t axis) {
  return {call.shape(0).begin() + axis, call.shape(0).end()};
}

// A parameter for each value of a row; 1 or 0 where it is absent.
Values parameter(const OpCall& call, size_t input, const Shape& row) {
  if (!call.has(input))
    return Values(static_cast<size_t>(elements_of(row)), input == 1 ? 1.0 : 0.0);
  const Values given = call.inputs[input].value->to_f64();
  const std::vector<int64_t> steps[1] = {broadcast_strides(call.shape(input), row)};
  Values values;
  for_each_row(row, steps, [&](const int64_t(&offsets)[1]) {
    for (int64_t i = 0; i < row.back(); ++i) {
      values.push_back(given[static_cast<size_t>(offsets[0] + i * steps[0].back())]);
    }
  });
  return values;
}

// Rows that are worth waking a thread.
int64_t grain_of(int64_t length) {
  return std::max<int64_t>(1, kElementGrain / 4 / std::max<int64_t>(length, 1));
}

// The kernels of layer_norm hold a scale and a bias for each value of a row, here half a megabyte.
constexpr int64_t kLongestScaledRow = 1 << 16;

// Exporters write a norm of groups as one of instances with such parameters.
bool is_all(const Term& parameter, double number) {
  if (!parameter.known) return false;
  const Values values = parameter.value.to_f64();
  return std::all_of(values.begin(), values.end(), [&](double one) { return one == number; });
}

struct NormedRows {
  Term y, mean, factor;
};

// The rows of a matrix, not yet scaled.
NormedRows normed_rows(Steps& s, const Term& x, bool rms) {
  NormedRows out;
  Term apart = x;
  if (!rms) {
    out.mean = s.reduced("ReduceMean", x, {1});
    apart = s.one("Sub", {x, out.mean});
  }
  const double epsilon = s.call().node.float_attr("epsilon", kNormEpsilon);
  const Term variance = s.reduced("ReduceMean", s.one("Mul", {apart, apart}), {1});
  const Term deviation = s.one("Sqrt", {s.one("Add", {variance, number(epsilon)})});
  out.factor = s.one("Div", {number(1), deviation});
  out.y = s.one("Mul", {apart, out.factor});
  return out;
}

}  // namespace

ChannelAffine batch_normalization_affine(const OpCall& call) {
  const double epsilon = call.node.float_attr("epsilon", kNormEpsilon);
  const Values gamma = call.inputs[1].value->to_f64(), beta = call.inputs[2].value->to_f64(),
               mean = call.inputs[3].value->to_f64(), variance = call.inputs[4].value->to_f64();
  ChannelAffine affine;
  for (size_t c = 0; c < gamma.size(); ++c) {
    affine.scale.push_back(gamma[c] / std::sqrt(variance[c] + epsilon));
    affine.shift.push_back(beta[c] - mean[c] * affine.scale[c]);
  }
  return affine;
}

Result<std::vector<TensorType>> infer_row_norm(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  for (size_t i = 1; i < 3; ++i) {
    if (!call.has(i)) continue;
    const auto joint = broadcast(row_of(call, axis), call.shape(i));
    if (!joint || *joint != row_of(call, axis)) return misfit(call, 0, i);
  }
  Shape moments = call.shape(0);
  for (size_t i = static_cast<size_t>(axis); i < moments.size(); ++i) moments[i] = 1;
  return Types{call.type(0), {DType::kF32, moments}, {DType::kF32, moments}};
}

Status row_norm_on_host(const OpCall& call, std::vector<Tensor>& outputs, bool rms) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  const Shape row = row_of(call, axis);
  const int64_t length = elements_of(row);
  const Values scale = parameter(call, 1, row), bias = parameter(call, 2, row);
  const double epsilon = call.node.float_attr("epsilon", kNormEpsilon);
  return visit_floats(outputs[0].dtype(), [&]<class T>() {
    const int64_t rows = outputs[0].elements() / length;
    parallel_for(rows, grain_of(length), [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; ++r) {
        const T* x = call.tensor(0).data<T>() + r * length;
        T* y = outputs[0].data<T>() + r * length;
        const Moments m = moments_of(x, length, epsilon, rms);
        for (int64_t i = 0; i < length; ++i) {
          const auto at = static_cast<size_t>(i);
          const double d = static_cast<double>(x[i]) - m.mean;
          y[i] = static_cast<T>(d * m.factor * scale[at] + bias[at]);
        }
        if (outputs.size() > 1) outputs[1].data<float>()[r] = static_cast<float>(m.mean);
        if (outputs.size() > 2) outputs[2].data<float>()[r] = static_cast<float>(m.factor);
      }
    });
  });
}

Lowering lower_row_norm(const OpCall& call, bool rms) {
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
  lowered.dims = {{"M", rows.rows()}, {"W", rows.w}, {"C", rows.c}, {"rms", rms}};
  lowered.scalars = {{"epsilon", call.node.float_attr("epsilon", kNormEpsilon)}};
  lowered.inputs = {{"x", 0, View::kChannelsLast}};
  lowered.constants = {{"scale"}, {"bias"}};
  lowered.view = View::kChannelsLast;
  return kernel_call(std::move(lowered));
}

Values row_norm_constant(const OpCall& call, const LoweredConstant& which) {
  const auto axis = axis_of(call);
  return axis ? parameter(call, which.role == "scale" ? 1 : 2, row_of(call, *axis)) : Values{};
}

// No steps: a parameter is repeated along some axes of a row.
std::vector<Term> row_norm_steps(Steps& s, bool rms) {
  const OpCall& call = s.call();
  const auto axis = axis_of(call);
  if (!axis || elements_of(call.shape(0)) == 0) return {};
  const int64_t length = elements_of(row_of(call, *axis));
  for (size_t i = 1; i < 3; ++i) {
    if (call.has(i) && elements_of(call.shape(i)) != length && elements_of(call.shape(i)) != 1)
      return {};
  }
  const NormedRows rows =
      normed_rows(s, s.reshaped(s.input(0), {elements_of(call.shape(0)) / length, length}), rms);
  const auto parameter = [&](size_t i) {
    return s.reshaped(s.input(i), {1, elements_of(call.shape(i))});
  };
  Term y = s.one("Mul", {rows.y, parameter(1)});
  if (call.has(2)) y = s.one("Add", {y, parameter(2)});
  Shape moments = call.shape(0);
  for (auto i = static_cast<size_t>(*axis); i < moments.size(); ++i) moments[i] = 1;
  std::vector<Term> outputs{s.reshaped(y, call.shape(0))};
  if (!rms) {
    outputs.push_back(s.reshaped(rows.mean, moments));
    outputs.push_back(s.reshaped(rows.factor, moments));
  }
  return outputs;
}

std::vector<Term> channel_norm_steps(Steps& s, int64_t groups) {
  const Shape& shape = s.call().shape(0);
  const int64_t elements = elements_of(shape), rows = shape[0] * groups;
  if (elements == 0) return {};
  const int64_t length = elements / rows;
  const Term x = s.reshaped(s.input(0), {rows, length});
  const Attributes epsilon = {{"epsilon", s.call().node.float_attr("epsilon", kNormEpsilon)}};
  const Term normed = length > kLongestScaledRow
                          ? normed_rows(s, x, false).y
                          : s.one("LayerNormalization", {x, number(1)}, epsilon);
  const int64_t parts = elements_of(s.call().shape(1));
  const Term apart = s.reshaped(normed, {shape[0], parts, elements / shape[0] / parts});
  Term y = apart;
  if (!is_all(s.input(1), 1)) y = s.one("Mul", {y, s.reshaped(s.input(1), {1, parts, 1})});
  if (!is_all(s.input(2), 0)) y = s.one("Add", {y, s.reshaped(s.input(2), {1, parts, 1})});
  return {s.reshaped(y, shape)};
}

Status channel_norm_on_host(const OpCall& call, int64_t groups, std::vector<Tensor>& outputs) {
  const Shape& shape = call.shape(0);
  const int64_t rows = shape[0] * groups, length = outputs[0].elements() / rows;
  const int64_t channels = shape[1] / groups, plane = length / channels;
  const Values scale = call.tensor(1).to_f64(), bias = call.tensor(2).to_f64();
  const bool by_group = static_cast<int64_t>(scale.size()) != shape[1];
  const double epsilon = call.node.float_attr("epsilon", kNormEpsilon);
  return visit_floats(outputs[0].dtype(), [&]<class T>() {
    parallel_for(rows, grain_of(length), [&](int64_t first, int64_t end) {
      for (int64_t r = first; r < end; ++r) {
        const T* x = call.tensor(0).data<T>() + r * length;
        T* y = outputs[0].data<T>() + r * length;
        const Moments m = moments_of(x, length, epsilon);
        for (int64_t i = 0; i < length; ++i) {
          const int64_t group = r % groups;
          const auto at = static_cast<size_t>(by_group ? group : group * channels + i / plane);
          const double d = static_cast<double>(x[i]) - m.mean;
          y[i] = static_cast<T>(d * m.factor * scale[at] + bias[at]);
        }
      }
    });
  });
}

}  // namespace clvet
