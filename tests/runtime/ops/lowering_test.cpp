// What a node lowers to, computed by the kernels' own float64 reference, equals the host.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

// Values of a tensor in the order (n,h,w,c) of its view, or back.
Values reorder(const Values& values, const Shape& shape, const View& view, bool to_device) {
  const std::vector<Step> steps = steps_of(shape, view);
  const int64_t channels = view_of(shape, view)->c;
  Values out(values.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t logical = 0; logical < values.size(); ++logical) {
    int64_t device = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      device += index[i] * (steps[i].rows * channels + steps[i].channels);
    }
    const auto at = static_cast<size_t>(device);
    out[to_device ? at : logical] = values[to_device ? logical : at];
    for (size_t i = shape.size(); i-- > 0 && ++index[i] == shape[i];) index[i] = 0;
  }
  return out;
}

struct Case {
  const char* name;
  Node node;
  std::vector<Tensor> inputs;
  std::vector<bool> constant;
  View preferred = View::kChannelsFirst;
};

Node with_activation(Node node, Activation activation) {
  node.activation = activation;
  return node;
}

Tensor ints(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

// Noise from -3 to 3.
Tensor spread(const Shape& shape) {
  std::vector<float> values = test::floats(test::noise(shape, 2));
  for (float& value : values) value *= 3;
  return Tensor::from(shape, std::span<const float>(values));
}

std::vector<Case> cases() {
  using test::list;
  using test::make_node;
  using test::noise;
  const Activation swish{Act::kHardSwish, 1.0 / 6, 0.5};
  const Tensor positive = Tensor::of<float>({3}, {1, 2, 3});
  return {
      {"conv",
       with_activation(
           make_node("Conv", 3, {{"pads", list({1, 0, 2, 1})}, {"strides", list({2, 1})}}), swish),
       {noise({2, 3, 7, 6}), noise({5, 3, 3, 2}), noise({5})},
       {false, true, true}},
      {"conv_without_bias_dilated",
       make_node("Conv", 2, {{"dilations", list({2, 2})}}),
       {noise({1, 2, 8, 8}), noise({3, 2, 3, 3})},
       {false, true}},
      {"conv_1d",
       make_node("Conv", 2, {{"pads", list({1, 1})}}),
       {noise({2, 3, 9}), noise({4, 3, 3})},
       {false, true}},
      {"depthwise",
       with_activation(make_node("Conv", 3, {{"group", int64_t{4}}, {"pads", list({1, 1, 1, 1})}}),
                       {Act::kRelu}),
       {noise({1, 4, 5, 6}), noise({4, 1, 3, 3}), noise({4})},
       {false, true, true}},
      {"batch_norm",
       make_node("BatchNormalization", 5),
       {noise({2, 3, 4, 5}), noise({3}, 2), noise({3}, 3), noise({3}, 4), positive},
       {false, true, true, true, true}},
      {"max_pool",
       make_node("MaxPool", 1,
                 {{"kernel_shape", list({3, 2})},
                  {"strides", list({2, 2})},
                  {"pads", list({1, 0, 1, 1})}}),
       {noise({2, 3, 7, 6})},
       {false}},
      {"average_pool",
       make_node("AveragePool", 1, {{"kernel_shape", list({3, 3})}, {"pads", list({1, 1, 1, 1})}}),
       {noise({1, 3, 5, 5})},
       {false}},
      {"average_pool_with_pads",
       make_node("AveragePool", 1,
                 {{"kernel_shape", list({2, 2})},
                  {"strides", list({2, 2})},
                  {"pads", list({1, 1, 1, 1})},
                  {"ceil_mode", int64_t{1}},
                  {"count_include_pad", int64_t{1}}}),
       {noise({1, 3, 5, 6})},
       {false}},
      {"global_average", make_node("GlobalAveragePool", 1), {noise({2, 5, 3, 4})}, {false}},
      {"reduce_mean",
       make_node("ReduceMean", 1, {{"axes", list({2, 3})}}),
       {noise({2, 5, 3, 4})},
       {false}},
      {"add",
       with_activation(make_node("Add", 2), {Act::kRelu}),
       {noise({2, 3, 4, 5}), noise({2, 3, 4, 5}, 9)},
       {false, false}},
      {"add_channels", make_node("Add", 2), {noise({2, 3, 4, 5}), noise({3, 1, 1})}, {false, true}},
      {"sub_row_from_the_left",
       make_node("Sub", 2),
       {noise({5}), noise({2, 3, 4, 5})},
       {false, false}},
      {"div_scalar_from_the_left",
       make_node("Div", 2),
       {Tensor::scalar(3.f), noise({2, 3})},
       {true, false}},
      {"mul_scalar",
       make_node("Mul", 2),
       {noise({2, 3, 4}), Tensor::scalar(3.f)},
       {false, true},
       View::kChannelsLast},
      {"affine",
       with_activation(make_node("Mul", 2), {Act::kAffine, 2, 5}),
       {Tensor::scalar(3.f), noise({2, 3, 4})},
       {true, false}},
      {"mul_rows",
       make_node("Mul", 2),
       {noise({2, 3, 4, 5, 6}), noise({2, 3, 1, 1, 6})},
       {false, false}},
      {"square", make_node("Pow", 2), {noise({2, 7, 3}), Tensor::scalar(2.f)}, {false, true}},
      {"square_by_an_integer", make_node("Pow", 2), {noise({2, 7}), ints({2})}, {false, true}},
      {"square_of_more_axes",
       make_node("Pow", 2),
       {noise({7}), Tensor::of<float>({1, 1}, {2})},
       {false, true}},
      {"cube", make_node("Pow", 2), {positive, Tensor::scalar(3.f)}, {false, true}},
      {"max", make_node("Max", 2), {noise({2, 7}), noise({2, 7}, 3)}, {false, false}},
      {"prelu",
       make_node("PRelu", 2),
       {noise({2, 3, 4}), Tensor::of<float>({3, 1}, {0.5f, -2, 3})},
       {false, true}},
      {"relu", make_node("Relu", 1), {noise({2, 7, 3})}, {false}},
      {"clip",
       make_node("Clip", 3),
       {noise({2, 7}), Tensor::scalar(-0.25f), Tensor::scalar(0.5f)},
       {false, true, true}},
      {"softmax_last", make_node("Softmax", 1), {noise({2, 3, 7})}, {false}},
      {"softmax_channels",
       make_node("Softmax", 1, {{"axis", int64_t{1}}}),
       {noise({2, 3, 4, 5})},
       {false}},
      {"softmax_old", make_node("Softmax", 1, {}, 11), {noise({2, 9})}, {false}},
      {"matmul",
       with_activation(make_node("MatMul", 3), {Act::kSigmoid}),
       {noise({2, 3, 4}), noise({4, 5}), noise({5})},
       {false, true, true}},
      {"gemm",
       make_node("Gemm", 3, {{"transB", int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}}),
       {noise({3, 4}), noise({5, 4}), noise({1, 5})},
       {false, true, true}},
      {"matmul_of_two",
       with_activation(make_node("MatMul", 2), {Act::kRelu}),
       {noise({2, 3, 4, 5}), noise({2, 3, 5, 6}, 2)},
       {false, false}},
      {"matmul_one_for_all",
       make_node("MatMul", 2),
       {noise({2, 3, 4, 5}), noise({3, 5, 6}, 2)},
       {false, false}},
      {"matmul_repeats_the_left",
       make_node("MatMul", 2),
       {noise({4, 5}), noise({2, 3, 5, 6}, 2)},
       {false, false}},
      {"matmul_of_two_with_bias",
       with_activation(make_node("MatMul", 3), {Act::kSigmoid}),
       {noise({2, 4, 5}), noise({2, 5, 6}, 2), noise({6}, 3)},
       {false, false, true}},
      {"gemm_of_two",
       make_node("Gemm", 3,
                 {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}}),
       {noise({4, 3}), noise({5, 4}), noise({3, 1})},
       {false, false, false}},
      {"reduce_last",
       make_node("ReduceMean", 1, {{"axes", list({-1})}}),
       {noise({2, 3, 7})},
       {false}},
      {"reduce_middle_dropped",
       make_node("ReduceL2", 1, {{"axes", list({1})}, {"keepdims", int64_t{0}}}),
       {noise({2, 3, 7})},
       {false}},
      {"reduce_then_scale",
       with_activation(make_node("ReduceSumSquare", 1, {{"axes", list({-1})}}),
                       {Act::kAffine, 0.25, 1}),
       {noise({2, 3, 7})},
       {false}},
      {"softmax_outermost",
       make_node("Softmax", 1, {{"axis", int64_t{0}}}),
       {noise({4, 3, 5})},
       {false}},
      {"expand_to_more_axes",
       make_node("Expand", 2),
       {noise({3, 1}), ints({2, 1, 5})},
       {false, true}},
      {"reduce_two",
       make_node("ReduceMax", 1, {{"axes", list({0, 2})}}),
       {noise({2, 3, 4, 5})},
       {false}},
      {"reduce_all_to_a_scalar",
       make_node("ReduceSum", 1, {{"keepdims", int64_t{0}}}, 11),
       {noise({2, 3, 4})},
       {false}},
      {"conv_transpose",
       with_activation(
           make_node("ConvTranspose", 3, {{"strides", list({2, 2})}, {"pads", list({1, 0, 0, 1})}}),
           {Act::kRelu}),
       {noise({1, 3, 4, 5}), noise({3, 2, 3, 3}), noise({2})},
       {false, true, true}},
      {"conv_in_groups",
       make_node("Conv", 3, {{"group", int64_t{2}}, {"pads", list({1, 1, 1, 1})}}),
       {noise({2, 6, 5, 4}), noise({4, 3, 3, 3}), noise({4})},
       {false, true, true}},
      {"pad_reflected",
       make_node("Pad", 2, {{"mode", std::string("reflect")}}),
       {noise({1, 3, 6, 5}), ints({0, 0, 2, 1, 0, 0, 1, 3})},
       {false, true}},
      {"pad_channels",
       make_node("Pad", 3),
       {noise({2, 3, 4}), ints({0, 1, 0, 0, 2, -1}), Tensor::scalar(7.f)},
       {false, true, true},
       View::kChannelsLast},
      {"resize_whole",
       make_node("Resize", 3,
                 {{"mode", std::string("nearest")},
                  {"coordinate_transformation_mode", std::string("asymmetric")},
                  {"nearest_mode", std::string("floor")}}),
       {noise({1, 3, 4, 5}), Tensor::of<float>({0}, {}), Tensor::of<float>({4}, {1, 1, 2, 3})},
       {false, true, true}},
      {"resize_linear",
       make_node("Resize", 3, {{"mode", std::string("linear")}}),
       {noise({1, 3, 4, 5}), Tensor::of<float>({0}, {}), Tensor::of<float>({4}, {1, 1, 2, 3})},
       {false, true, true}},
      {"resize_cubic",
       make_node("Resize", 3, {{"mode", std::string("cubic")}}),
       {noise({1, 3, 6, 5}), Tensor::of<float>({0}, {}), Tensor::of<float>({4}, {1, 1, 0.5, 1.5})},
       {false, true, true}},
      {"grid_sample",
       make_node("GridSample", 2),
       {noise({2, 3, 4, 5}), noise({2, 3, 6, 2}, 2)},
       {false, false}},
      {"grid_sample_mirrored",
       make_node("GridSample", 2,
                 {{"mode", std::string("bicubic")},
                  {"padding_mode", std::string("reflection")},
                  {"align_corners", int64_t{1}}}),
       {noise({1, 5, 4, 3}), spread({1, 7, 6, 2})},
       {false, false}},
      {"grid_sample_nearest_border",
       make_node("GridSample", 2,
                 {{"mode", std::string("nearest")}, {"padding_mode", std::string("border")}}),
       {noise({1, 5, 4, 3}), spread({1, 7, 6, 2})},
       {false, false}},
      {"grid_sample_of_a_volume",
       make_node("GridSample", 2, {{"padding_mode", std::string("border")}}),
       {noise({2, 3, 2, 4, 5}), noise({2, 3, 4, 2, 3}, 2)},
       {false, false}},
      {"roi_align",
       make_node("RoiAlign", 3,
                 {{"output_height", int64_t{2}},
                  {"output_width", int64_t{3}},
                  {"sampling_ratio", int64_t{2}},
                  {"spatial_scale", 0.5}}),
       {noise({2, 3, 4, 5}), Tensor::of<float>({2, 4}, {0, 1, 7, 6, -9, 3, 4, 30}), ints({1, -2})},
       {false, false, false}},
      {"roi_align_largest",
       make_node("RoiAlign", 3,
                 {{"output_height", int64_t{2}},
                  {"output_width", int64_t{2}},
                  {"mode", std::string("max")},
                  {"coordinate_transformation_mode", std::string("output_half_pixel")}}),
       {noise({1, 5, 8, 6}), Tensor::of<float>({2, 4}, {1, 1, 5, 7, 3, 2, 1, 2}), ints({0, 0})},
       {false, false, false}},
      {"cum_sum_of_channels",
       make_node("CumSum", 2, {{"exclusive", int64_t{1}}}),
       {noise({2, 5, 3}), ints({1})},
       {false, true}},
      {"cum_sum_of_rows",
       make_node("CumSum", 2, {{"reverse", int64_t{1}}}),
       {noise({2, 5, 3, 4}), ints({-2})},
       {false, true}},
      {"cum_sum_of_the_outermost",
       make_node("CumSum", 2, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}),
       {noise({3, 2, 1, 2, 5}), ints({0})},
       {false, true},
       View::kChannelsLast},
      {"cum_sum_of_a_vector", make_node("CumSum", 2), {noise({7}), ints({0})}, {false, true}},
      {"both_broadcast", make_node("Mul", 2), {noise({2, 1, 5}), noise({1, 3, 5})}, {false, false}},
      {"transpose_heads",
       make_node("Transpose", 1, {{"perm", list({2, 0, 3, 1, 4})}}),
       {noise({1, 5, 3, 2, 4})},
       {false},
       View::kChannelsLast},
      {"transpose_of_planes",
       make_node("Transpose", 1, {{"perm", list({0, 3, 1, 2})}}),
       {noise({2, 3, 4, 5})},
       {false}},
      {"reshape_splits_channels",
       make_node("Reshape", 2),
       {noise({2, 12, 4}), ints({2, 3, 4, 4})},
       {false, true}},
      {"reshape_splits_the_last_axis",
       make_node("Reshape", 2),
       {noise({5, 12}), ints({5, 3, 4})},
       {false, true},
       View::kChannelsLast},
      {"reshape_joins_planes",
       make_node("Reshape", 2),
       {noise({2, 3, 4, 5}), ints({2, 3, 20})},
       {false, true}},
      {"reshape_joins_channels",
       make_node("Reshape", 2),
       {noise({2, 3, 4, 5}), ints({2, 60})},
       {false, true}},
      {"flatten_of_planes", make_node("Flatten", 1), {noise({2, 3, 4, 5})}, {false}},
      {"flatten_of_ones", make_node("Flatten", 1), {noise({2, 5, 1, 1})}, {false}},
      {"squeeze", make_node("Squeeze", 2), {noise({2, 5, 1, 4}), ints({2})}, {false, true}},
      {"unsqueeze", make_node("Unsqueeze", 2), {noise({2, 5}), ints({1})}, {false, true}},
      {"slice",
       make_node("Slice", 5),
       {noise({2, 9, 8, 7}), ints({1, 6}), ints({8, 0}), ints({1, 3}), ints({2, -2})},
       {false, true, true, true, true}},
      {"split",
       make_node("Split", 2, {{"axis", int64_t{1}}}, 13, 3),
       {noise({2, 9, 4}), ints({2, 3, 4})},
       {false, true}},
      {"expand", make_node("Expand", 2), {noise({2, 1, 4}), ints({2, 3, 4})}, {false, true}},
      {"tile", make_node("Tile", 2), {noise({2, 3, 4}), ints({2, 1, 3})}, {false, true}},
      {"gather_one",
       make_node("Gather", 2, {{"axis", int64_t{1}}}),
       {noise({2, 5, 4}), Tensor::scalar<int64_t>(-2)},
       {false, true}},
      {"gather_pairs",
       make_node("Gather", 2, {{"axis", int64_t{0}}}),
       {noise({9, 4}), Tensor::of<int64_t>({2, 2}, {1, 3, 5, 7})},
       {false, true}},
      {"gather_at_run_time",
       make_node("Gather", 2, {{"axis", int64_t{0}}}),
       {noise({9, 4}), Tensor::of<int64_t>({2, 3}, {1, -3, 5, 8, 0, -9})},
       {false, false}},
      {"gather_inside_at_run_time",
       make_node("Gather", 2, {{"axis", int64_t{2}}}),
       {noise({2, 3, 5, 4}), Tensor::of<int64_t>({3}, {4, 0, -2})},
       {false, false}},
      {"gather_of_the_last_axis_at_run_time",
       make_node("Gather", 2, {{"axis", int64_t{-1}}}),
       {noise({2, 3, 5}), Tensor::of<int64_t>({2, 2}, {4, 0, -2, 1})},
       {false, false},
       View::kChannelsLast},
      {"gather_of_channels_at_run_time",
       make_node("Gather", 2, {{"axis", int64_t{1}}}),
       {noise({2, 3, 5, 4}), Tensor::of<int64_t>({2}, {2, 0})},
       {false, false}},
      {"gather_of_planes_at_run_time",
       make_node("Gather", 2, {{"axis", int64_t{0}}}),
       {noise({4, 3, 5, 2}), Tensor::scalar<int64_t>(-1)},
       {false, false}},
      {"gather_of_a_vector_at_run_time",
       make_node("Gather", 2),
       {noise({9}), Tensor::of<int64_t>({2, 2}, {8, -1, 3, -9})},
       {false, false}},
      {"gather_one_of_a_vector_at_run_time",
       make_node("Gather", 2),
       {noise({9}), Tensor::scalar<int64_t>(4)},
       {false, false}},
      {"gather_unevenly",
       make_node("Gather", 2, {{"axis", int64_t{1}}}),
       {noise({2, 7, 4}), Tensor::of<int64_t>({4}, {0, 1, 3, 6})},
       {false, true},
       View::kChannelsLast},
      {"concat_channels",
       make_node("Concat", 3, {{"axis", int64_t{1}}}),
       {noise({2, 3, 4, 5}), noise({2, 6, 4, 5}, 2), noise({2, 1, 4, 5}, 3)},
       {false, false, true}},
      {"concat_many",
       make_node("Concat", 6, {{"axis", int64_t{2}}}),
       {noise({2, 3, 1}), noise({2, 3, 2}), noise({2, 3, 3}), noise({2, 3, 4}), noise({2, 3, 5}),
        noise({2, 3, 6})},
       {false, false, false, false, false, false},
       View::kChannelsLast},
      {"concat_without_the_empty_ones",
       make_node("Concat", 4, {{"axis", int64_t{1}}}),
       {noise({2, 3, 4}), Tensor::of<float>({2, 0, 4}, {}), noise({2, 1, 4}, 2),
        Tensor::of<float>({2, 0, 4}, {})},
       {false, false, false, true}},
      {"concat_of_one_that_has_elements",
       make_node("Concat", 2, {{"axis", int64_t{-1}}}),
       {Tensor::of<float>({2, 0}, {}), noise({2, 3})},
       {false, false}},
      {"concat_of_a_constant_alone",
       make_node("Concat", 2, {{"axis", int64_t{1}}}),
       {Tensor::of<float>({2, 0, 4, 5}, {}), noise({2, 3, 4, 5})},
       {false, true}},
      {"reshape_across_axes",
       make_node("Reshape", 2),
       {noise({2, 3, 4}), Tensor::of<int64_t>({3}, {4, 2, 3})},
       {false, true}},
      {"reshape_across_axes_of_channels_last",
       make_node("Reshape", 2),
       {noise({2, 9, 5}), Tensor::of<int64_t>({2}, {6, 15})},
       {false, true},
       View::kChannelsLast},
      {"reduce_no_axis",
       make_node("ReduceSum", 2, {{"noop_with_empty_axes", int64_t{1}}}),
       {noise({2, 3, 4}), Tensor::of<int64_t>({0}, {})},
       {false, true}},
      {"concat_outer_of_five",
       make_node("Concat", 2, {{"axis", int64_t{1}}}),
       {noise({2, 3, 2, 2, 5}), noise({2, 1, 2, 2, 5}, 2)},
       {false, false},
       View::kChannelsLast},
  };
}

class Lowers : public ::testing::TestWithParam<Case> {};

// What a call made, in row-major order of its shape.
struct Made {
  Values values;
  Shape shape;
};

// One call by its contract's reference, in the order of the device.
Values compute(const LoweredCall& lowered, const OpCall& call, const std::vector<Tensor>& inputs,
               const std::vector<Made>& made) {
  const OpContract* contract = find_op_contract(lowered.op);
  if (!contract) {
    ADD_FAILURE() << "no op " << lowered.op;
    return {};
  }
  const auto roles = contract->roles(lowered.dims);
  if (!roles) {
    ADD_FAILURE() << roles.error().message;
    return {};
  }
  CallValues values{lowered.dims, lowered.scalars, {}};
  for (const LoweredInput& input : lowered.inputs) {
    const auto role = std::find_if(roles->begin(), roles->end(),
                                   [&](const TensorRole& row) { return row.name == input.role; });
    if (role != roles->end() && role->kind == TensorKind::kIndices) {
      values.tensors[input.role] = inputs.at(static_cast<size_t>(input.input)).to_f64();
      continue;
    }
    if (input.input < 0) {
      const Made& before = made.at(static_cast<size_t>(-1 - input.input));
      values.tensors[input.role] = reorder(before.values, before.shape, input.view, true);
      continue;
    }
    const Tensor& tensor = inputs.at(static_cast<size_t>(input.input));
    values.tensors[input.role] =
        reorder(tensor.to_f64(), padded_shape(tensor.shape(), input.rank), input.view, true);
  }
  for (const LoweredConstant& constant : lowered.constants) {
    values.tensors[constant.role] = call.node.def->constant(call, constant);
  }
  for (const TensorRole& role : *roles) {
    if (role.kind == TensorKind::kOutput) continue;
    EXPECT_TRUE(values.tensors.contains(role.name)) << role.name;
    EXPECT_EQ(static_cast<int64_t>(values.tensors[role.name].size()), role.elements()) << role.name;
  }
  return contract->reference(values).value;
}

TEST_P(Lowers, ToCallsThatComputeTheSame) {
  const Case& test_case = GetParam();
  const OpCall call = test::make_call(test_case.node, test_case.inputs, test_case.constant);
  const Lowering lowering = lower_node(call, test_case.preferred);
  ASSERT_NE(lowering.kind, LoweringKind::kHost) << lowering.reason;
  std::vector<const Tensor*> arguments;
  for (const Tensor& input : test_case.inputs) arguments.push_back(&input);
  const auto wanted = run_node(test_case.node, arguments);
  ASSERT_TRUE(wanted) << wanted.error().message;
  const auto compare = [&](size_t output, const View& view, const Values& device) {
    const Tensor& want = (*wanted)[output];
    ASSERT_EQ(static_cast<int64_t>(device.size()), want.elements());
    const Values got = reorder(device, want.shape(), view, false);
    const std::vector<double> host = want.to_f64();
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], host[i], 1e-5) << output << ' ' << i;
  };
  if (lowering.kind == LoweringKind::kAlias) {
    const Tensor& source = test_case.inputs[static_cast<size_t>(lowering.source.input)];
    compare(0, lowering.view, reorder(source.to_f64(), source.shape(), lowering.source.view, true));
    return;
  }
  std::vector<Made> made;
  size_t outputs = 0;
  for (const LoweredCall& lowered : lowering.calls) {
    const Values device = compute(lowered, call, test_case.inputs, made);
    if (lowered.output != kTemporary) {
      compare(static_cast<size_t>(lowered.output), lowered.view, device);
      ++outputs;
    }
    const bool plain = lowered.temporary.empty();
    const TensorRole y = find_op_contract(lowered.op)->roles(lowered.dims)->back();
    const Shape shape = plain ? Shape{y.n, y.h, y.w, y.c} : lowered.temporary;
    const View view = plain ? View::kChannelsLast : lowered.view;
    made.push_back({reorder(device, shape, view, false), shape});
  }
  EXPECT_EQ(outputs, test_case.node.outputs.size());
}

INSTANTIATE_TEST_SUITE_P(All, Lowers, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Lowering, SaysWhyOnlyTheHostCan) {
  const Node node = test::make_node("Conv", 2);
  const std::vector<Tensor> inputs = {test::noise({1, 3, 4, 4}), test::noise({2, 3, 1, 1})};
  const Lowering lowering =
      lower_node(test::make_call(node, inputs, {false, false}), View::kChannelsLast);
  EXPECT_EQ(lowering.kind, LoweringKind::kHost);
  EXPECT_EQ(lowering.reason, "its weights are computed at run time");
  const Node integer = test::make_node("Add", 2);
  const std::vector<Tensor> ints = {Tensor::of<int64_t>({2}, {1, 2}),
                                    Tensor::of<int64_t>({2}, {1, 2})};
  EXPECT_EQ(lower_node(test::make_call(integer, ints, {false, false}), View::kChannelsLast).kind,
            LoweringKind::kHost);
}

TEST(Lowering, HasNothingToComputeWhereNoOutputHasAnElement) {
  const auto kind = [](const Node& node, const std::vector<Tensor>& inputs) {
    return lower_node(test::make_call(node, inputs, std::vector<bool>(inputs.size(), false)),
                      View::kChannelsFirst)
        .kind;
  };
  EXPECT_EQ(kind(test::make_node("Abs", 1), {Tensor::of<float>({2, 0}, {})}),
            LoweringKind::kNothing);
  EXPECT_EQ(kind(test::make_node("Abs", 1), {Tensor::of<int32_t>({2, 0}, {})}),
            LoweringKind::kHost);
  EXPECT_EQ(kind(test::make_node("Add", 2), {Tensor::of<float>({0}, {}), test::noise({1})}),
            LoweringKind::kNothing);
  EXPECT_EQ(kind(test::make_node("Softmax", 1), {test::noise({2, 3})}), LoweringKind::kKernel);
}

TEST(Lowering, CutsOnlyThePartsThatHaveElements) {
  const Node node = test::make_node("Split", 2, {{"axis", int64_t{1}}}, 18, 3);
  const std::vector<Tensor> inputs = {test::noise({2, 4}), Tensor::of<int64_t>({3}, {1, 0, 3})};
  const Lowering lowering =
      lower_node(test::make_call(node, inputs, {false, true}), View::kChannelsLast);
  ASSERT_EQ(lowering.kind, LoweringKind::kKernel) << lowering.reason;
  ASSERT_EQ(lowering.calls.size(), 2u);
  EXPECT_EQ(lowering.calls[0].output, 0);
  EXPECT_EQ(lowering.calls[1].output, 2);
}

TEST(Lowering, TakesASquareAsAProductAndNoOtherPower) {
  const auto code = [](double exponent, bool constant) {
    const Lowering lowering = lower_node(
        test::make_call(test::make_node("Pow", 2),
                        {test::noise({2, 7}), Tensor::scalar(static_cast<float>(exponent))},
                        {false, constant}),
        View::kChannelsFirst);
    return static_cast<EltwiseCode>(lowering.calls.at(0).dims.at("code"));
  };
  EXPECT_EQ(code(2, true), EltwiseCode::kMul);
  EXPECT_EQ(code(2, false), EltwiseCode::kPow) << "not known before it runs";
  EXPECT_EQ(code(3, true), EltwiseCode::kPow);
}

TEST(Lowering, MovesNothingWhereTheBytesStay) {
  const auto kind = [](const Node& node, const std::vector<Tensor>& inputs, View view) {
    std::vector<bool> constant(inputs.size(), true);
    constant[0] = false;
    return lower_node(test::make_call(node, inputs, constant), view).kind;
  };
  using enum LoweringKind;
  const View first = View::kChannelsFirst, last = View::kChannelsLast;
  EXPECT_EQ(kind(test::make_node("Flatten", 1), {test::noise({2, 5, 1, 1})}, first), kAlias);
  EXPECT_EQ(kind(test::make_node("Flatten", 1), {test::noise({2, 5, 3, 1})}, first), kKernel);
  EXPECT_EQ(kind(test::make_node("Transpose", 1), {test::noise({2, 5, 3, 4})}, first), kAlias);
  const Node reshape = test::make_node("Reshape", 2);
  EXPECT_EQ(kind(reshape, {test::noise({2, 3, 4, 5}), ints({2, 3, 20})}, first), kAlias);
  EXPECT_EQ(kind(reshape, {test::noise({2, 3, 4, 5}), ints({2, 3, 20})}, last), kKernel);
  EXPECT_EQ(kind(reshape, {test::noise({2, 3, 4, 5}), ints({24, 5})}, last), kAlias);
}

}  // namespace
}  // namespace clvet
