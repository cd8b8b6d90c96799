// What a node lowers to, computed by the kernels' own float64 reference, equals the host.
#include <gmock/gmock.h>

#include "kernels/contract.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

// Values of a tensor in the order (n,h,w,c) of its view, or back.
Values reorder(const Values& values, const Shape& shape, View view, bool to_device) {
  const Nhwc e = *view_of(shape, view);
  Values out(values.size());
  if (view == View::kChannelsLast) return values;
  size_t device = 0;
  for (int64_t n = 0; n < e.n; ++n) {
    for (int64_t p = 0; p < e.h * e.w; ++p) {
      for (int64_t c = 0; c < e.c; ++c, ++device) {
        const auto host = static_cast<size_t>((n * e.c + c) * e.h * e.w + p);
        out[to_device ? device : host] = values[to_device ? host : device];
      }
    }
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

std::vector<int64_t> list(std::initializer_list<int64_t> values) { return values; }

std::vector<Case> cases() {
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
      {"max", make_node("Max", 2), {noise({2, 7}), noise({2, 7}, 3)}, {false, false}},
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
  };
}

class Lowers : public ::testing::TestWithParam<Case> {};

TEST_P(Lowers, ToACallThatComputesTheSame) {
  const Case& test_case = GetParam();
  const OpCall call = test::make_call(test_case.node, test_case.inputs, test_case.constant);
  const Lowering lowering = lower_node(call, test_case.preferred);
  ASSERT_EQ(lowering.kind, LoweringKind::kKernel) << lowering.reason;
  const OpContract* contract = find_op_contract(lowering.op);
  ASSERT_NE(contract, nullptr) << lowering.op;
  const auto roles = contract->roles(lowering.dims);
  ASSERT_TRUE(roles) << roles.error().message;

  CallValues values{lowering.dims, lowering.scalars, {}};
  for (const LoweredInput& input : lowering.inputs) {
    const Tensor& tensor = test_case.inputs[input.input];
    // An operand of lower rank is seen with leading extents of 1.
    Shape shape = tensor.shape();
    const size_t rank = test_case.inputs[lowering.inputs[0].input].shape().size();
    shape.insert(shape.begin(), rank - shape.size(), 1);
    values.tensors[input.role] = reorder(tensor.to_f64(), shape, input.view, true);
  }
  for (const LoweredConstant& constant : lowering.constants) {
    values.tensors[constant.role] = constant.make(call);
  }
  Shape shape;
  for (const TensorRole& role : *roles) {
    if (role.kind == TensorKind::kOutput) continue;
    ASSERT_TRUE(values.tensors.contains(role.name)) << role.name;
    EXPECT_EQ(static_cast<int64_t>(values.tensors[role.name].size()), role.elements()) << role.name;
  }
  const Tensor want = test::run_one(test_case.node, test_case.inputs);
  const Values got =
      reorder(contract->reference(values).value, want.shape(), lowering.output, false);
  const std::vector<double> host = want.to_f64();
  ASSERT_EQ(got.size(), host.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], host[i], 1e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(All, Lowers, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Lowering, SaysWhyOnlyTheHostCan) {
  const Node node = test::make_node("MatMul", 2);
  const std::vector<Tensor> inputs = {test::noise({2, 3}), test::noise({3, 4})};
  const Lowering lowering =
      lower_node(test::make_call(node, inputs, {false, false}), View::kChannelsLast);
  EXPECT_EQ(lowering.kind, LoweringKind::kHost);
  EXPECT_EQ(lowering.reason, "the right matrix is computed at run time");
  const Node integer = test::make_node("Add", 2);
  const std::vector<Tensor> ints = {Tensor::of<int64_t>({2}, {1, 2}),
                                    Tensor::of<int64_t>({2}, {1, 2})};
  EXPECT_EQ(lower_node(test::make_call(integer, ints, {false, false}), View::kChannelsLast).kind,
            LoweringKind::kHost);
}

TEST(Lowering, SqueezingSpatialOnesIsAnAlias) {
  const Node node = test::make_node("Flatten", 1);
  const Tensor x = test::noise({2, 5, 1, 1});
  EXPECT_EQ(lower_node(test::make_call(node, {x}, {false}), View::kChannelsFirst).kind,
            LoweringKind::kAlias);
  const Node transpose = test::make_node("Transpose", 1, {{"perm", list({0, 2, 3, 1})}});
  const Lowering lowering = lower_node(
      test::make_call(transpose, {test::noise({2, 5, 3, 4})}, {false}), View::kChannelsFirst);
  EXPECT_EQ(lowering.kind, LoweringKind::kAlias);
  EXPECT_EQ(lowering.output, View::kChannelsLast);
}

}  // namespace
}  // namespace clvet
