// Operators without a kernel as steps: the same values, and nothing of floats left to the host.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "tests/runtime/graph/passes/by_hand.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using test::list;
using test::make_node;
using test::noise;
using ::testing::Contains;
using ::testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Sample {
  const char* name;
  Node node;
  std::vector<Tensor> inputs;
  std::vector<bool> constant = {};
};

Tensor whole(const Shape& shape, std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(shape, values);
}

// The node alone, its inputs as i0, i1 ... and its outputs as o0, o1 ...
Graph graph_of(const Sample& sample) {
  Graph graph;
  Node node = sample.node;
  node.name = "node";
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const std::string name = "i" + std::to_string(i);
    const Tensor& tensor = sample.inputs[i];
    if (node.inputs[i] == kNoValue) continue;
    if (i < sample.constant.size() && sample.constant[i]) {
      node.inputs[i] = graph.add_constant(name, tensor);
      continue;
    }
    node.inputs[i] = graph.add_value(name);
    graph.values.back().dtype = tensor.dtype();
    graph.values.back().shape = tensor.shape();
    graph.inputs.push_back(node.inputs[i]);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    node.outputs[i] = graph.add_value("o" + std::to_string(i));
    graph.outputs.push_back(node.outputs[i]);
  }
  graph.nodes.push_back(node);
  EXPECT_TRUE(infer_and_fold(graph));
  return graph;
}

Graph expanded(const Sample& sample) {
  Graph graph = graph_of(sample);
  const Status done = expand_composites(graph);
  EXPECT_TRUE(done) << done.error().message;
  return graph;
}

Result<std::map<std::string, Tensor>> answer(const Graph& graph, const Sample& sample) {
  std::map<std::string, Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const std::string& name = graph.values[static_cast<size_t>(id)].name;
    inputs[name] = sample.inputs[std::stoul(name.substr(1))];
  }
  CLVET_ASSIGN_OR_RETURN(auto run, HostExecutor(graph).run(inputs));
  return std::move(run.outputs);
}

// Infinities and NaN alike, else near.
void expect_like(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.type(), want.type());
  const auto a = got.to_f64(), b = want.to_f64();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(b[i]))
      EXPECT_NEAR(a[i], b[i], 2e-5 * std::max(1.0, std::fabs(b[i]))) << "element " << i;
    else
      EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << "element " << i;
  }
}

bool is_f32(const Graph& graph, const std::vector<ValueId>& ids) {
  return std::ranges::any_of(ids, [&](ValueId id) {
    return id != kNoValue && graph.values[static_cast<size_t>(id)].dtype == DType::kF32;
  });
}

bool has_kernel(const Graph& graph, const Node& node) {
  const auto call = call_of(graph, node);
  return call && (lower_node(*call, View::kChannelsFirst).kind != LoweringKind::kHost ||
                  lower_node(*call, View::kChannelsLast).kind != LoweringKind::kHost);
}

// LSTM, GRU and RNN: X of two steps and a batch of three. `more` are the inputs from the lengths
// on.
Sample recurrent(const char* name, const char* op, int64_t gates, Attributes attributes,
                 std::vector<Tensor> more = {}, int64_t directions = 1, bool with_bias = true) {
  constexpr int64_t kInput = 4, kHidden = 5;
  const bool batch_first = attributes.contains("layout");
  attributes["hidden_size"] = kHidden;
  std::vector<Tensor> inputs = {noise(batch_first ? Shape{3, 2, kInput} : Shape{2, 3, kInput}),
                                noise({directions, gates * kHidden, kInput}, 2),
                                noise({directions, gates * kHidden, kHidden}, 3),
                                noise({directions, 2 * gates * kHidden}, 4)};
  Node node = make_node(op, inputs.size() + more.size(), std::move(attributes), 14,
                        std::string(op) == "LSTM" ? 3 : 2);
  if (!with_bias) node.inputs[3] = kNoValue;
  std::vector<bool> constant(inputs.size(), false);
  for (Tensor& tensor : more) {
    const bool absent = tensor.rank() == 0;
    if (absent) node.inputs[inputs.size()] = kNoValue;
    constant.push_back(tensor.dtype() == DType::kI32);
    inputs.push_back(std::move(tensor));
  }
  return {name, node, std::move(inputs), std::move(constant)};
}

std::vector<Sample> recurrent_samples() {
  const Tensor absent = Tensor::scalar(0.0f), whole_lengths = Tensor::of<int32_t>({3}, {2, 2, 2});
  const auto words = [](std::vector<std::string> list) { return list; };
  return {
      recurrent("lstm", "LSTM", 4, {}),
      recurrent("lstm_with_states_and_peepholes", "LSTM", 4, {{"layout", int64_t{1}}},
                {whole_lengths, noise({3, 1, 5}, 5), noise({3, 1, 5}, 6), noise({1, 15}, 7)}),
      recurrent("lstm_of_both_directions", "LSTM", 4, {{"direction", std::string("bidirectional")}},
                {absent, noise({2, 3, 5}, 5), noise({2, 3, 5}, 6), noise({2, 15}, 7)}, 2),
      recurrent("lstm_of_other_functions", "LSTM", 4,
                {{"direction", std::string("reverse")},
                 {"activations", words({"HardSigmoid", "ScaledTanh", "Affine"})},
                 {"activation_alpha", std::vector<double>{0.3, 1.5, 0.7}},
                 {"activation_beta", std::vector<double>{0.4, 0.6, 0.1}},
                 {"clip", 0.8},
                 {"input_forget", int64_t{1}}},
                {absent, absent, noise({1, 3, 5}, 6)}, 1, false),
      recurrent("gru_that_resets_before", "GRU", 3, {}, {absent, noise({1, 3, 5}, 5)}),
      recurrent("gru_that_resets_after", "GRU", 3,
                {{"linear_before_reset", int64_t{1}}, {"layout", int64_t{1}}},
                {absent, noise({3, 1, 5}, 5)}),
      recurrent("gru_without_a_state", "GRU", 3, {{"linear_before_reset", int64_t{1}}}),
      recurrent("rnn", "RNN", 1,
                {{"direction", std::string("bidirectional")},
                 {"activations", words({"Softsign", "LeakyRelu"})}},
                {}, 2),
  };
}

std::vector<Sample> samples() {
  const Tensor targets = whole({2, 3}, {0, 3, 1, 2, 2, 0});
  const auto attention = [](Attributes attributes, size_t outputs = 1, size_t inputs = 3) {
    return make_node("Attention", inputs, std::move(attributes), 23, outputs);
  };
  const Tensor allowed = Tensor::of<bool>(
      {2, 1, 3, 4}, {true, true, false, true, true, false, true, true, true, true, true, false,
                     true, true, true,  true, true, false, true, true, true, true, true, true});
  const Tensor odd = Tensor::of<float>({6}, {-kInf, -2, 0, 1.5f, kInf, 3});
  return {
      {"layer_norm_with_statistics",
       make_node("LayerNormalization", 3, {{"axis", int64_t{1}}}, 17, 3),
       {noise({2, 3, 4}), noise({3, 4}, 2), noise({3, 4}, 3)}},
      {"rms_norm_of_two_axes",
       make_node("RMSNormalization", 2, {{"axis", int64_t{-2}}}, 23),
       {noise({2, 3, 4}), noise({3, 4}, 2)}},
      {"instance_norm",
       make_node("InstanceNormalization", 3),
       {noise({2, 3, 4, 5}), noise({3}, 2), noise({3}, 3)}},
      {"instance_norm_of_long_rows",
       make_node("InstanceNormalization", 3),
       {noise({1, 2, 300, 300}), noise({2}, 2), noise({2}, 3)}},
      {"group_norm_without_parameters",
       make_node("GroupNormalization", 3, {{"num_groups", int64_t{2}}}, 18),
       {noise({2, 4, 3, 3}), Tensor::of<float>({2}, {1, 1}), Tensor::of<float>({2}, {0, 0})}},
      {"group_norm",
       make_node("GroupNormalization", 3, {{"num_groups", int64_t{2}}}, 21),
       {noise({2, 4, 3, 3}), noise({4}, 2), noise({4}, 3)}},
      {"group_norm_by_group",
       make_node("GroupNormalization", 3, {{"num_groups", int64_t{2}}}, 18),
       {noise({2, 4, 3, 3}), noise({2}, 2), noise({2}, 3)}},
      {"batch_norm_in_training",
       make_node("BatchNormalization", 5,
                 {{"training_mode", int64_t{1}}, {"momentum", 0.7}, {"epsilon", 0.01}}, 15, 3),
       {noise({2, 3, 4, 5}), noise({3}, 2), noise({3}, 3), noise({3}, 4), noise({3}, 5)}},
      {"batch_norm_of_parameters_at_run_time",
       make_node("BatchNormalization", 5, {}, 15),
       {noise({2, 3, 4}), noise({3}, 2), noise({3}, 3), noise({3}, 4),
        Tensor::of<float>({3}, {0.1f, 2, 1e6f})}},
      {"largest_of_nothing",
       make_node("ReduceMax", 2, {{"keepdims", int64_t{0}}}, 20),
       {Tensor::of<float>({2, 0, 3}, {}), whole({1}, {1})},
       {false, true}},
      {"mean_of_nothing", make_node("ReduceMean", 1, {}, 13), {Tensor::of<float>({0, 2}, {})}},
      {"logarithm_of_nothing",
       make_node("ReduceLogSumExp", 2, {}, 18),
       {Tensor::of<float>({2, 0, 0}, {}), whole({2}, {1, 2})},
       {false, true}},
      {"mean_variance", make_node("MeanVarianceNormalization", 1), {noise({2, 3, 4, 5})}},
      {"lp_norm_of_zeros",
       make_node("LpNormalization", 1, {{"axis", int64_t{1}}}),
       {Tensor::of<float>({2, 2}, {0, 0, 3, 4})}},
      {"lrn", make_node("LRN", 1, {{"size", int64_t{3}}, {"alpha", 0.2}}), {noise({2, 5, 3, 4})}},
      {"log_softmax", make_node("LogSoftmax", 1, {{"axis", int64_t{1}}}), {noise({2, 5, 3})}},
      {"softmax_of_two_axes",
       make_node("Softmax", 1, {{"axis", int64_t{1}}}, 11),
       {noise({2, 5, 3})}},
      {"hardmax_takes_the_first",
       make_node("Hardmax", 1),
       {Tensor::of<float>({2, 3}, {1, 2, 2, 5, 4, 5})}},
      {"arg_max", make_node("ArgMax", 1, {{"axis", int64_t{1}}}), {noise({2, 5, 3})}},
      {"arg_min_takes_the_last",
       make_node(
           "ArgMin", 1,
           {{"axis", int64_t{-1}}, {"select_last_index", int64_t{1}}, {"keepdims", int64_t{0}}}),
       {Tensor::of<float>({2, 4}, {3, 1, 1, 2, -kInf, 0, -kInf, 5})}},
      {"arg_max_of_nan",
       make_node("ArgMax", 1, {{"axis", int64_t{1}}}),
       {Tensor::of<float>({2, 3}, {1, kNan, kInf, 3, 2, kNan})}},
      {"loss",
       make_node("NegativeLogLikelihoodLoss", 3, {{"ignore_index", int64_t{2}}}),
       {noise({2, 4, 3}), targets, noise({4}, 2)}},
      {"loss_of_ignored_infinity",
       make_node("NegativeLogLikelihoodLoss", 2, {{"ignore_index", int64_t{0}}}),
       {Tensor::of<float>({2, 2}, {-kInf, -1, -kInf, -2}), whole({2}, {0, 1})}},
      {"cross_entropy_with_logarithms",
       make_node("SoftmaxCrossEntropyLoss", 2, {{"reduction", std::string("none")}}, 13, 2),
       {noise({2, 4, 3}), targets}},
      {"attention_of_heads",
       attention({{"is_causal", int64_t{1}}}, 4),
       {noise({2, 4, 3, 6}), noise({2, 2, 3, 6}, 2), noise({2, 2, 3, 5}, 3)}},
      {"attention_with_its_own_keys_again",
       attention({}, 3),
       {noise({1, 2, 3, 6}), noise({1, 2, 3, 6}, 2), noise({1, 2, 3, 5}, 3)}},
      {"attention_flat_and_masked",
       attention({{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}, {"softcap", 2.0}}, 1,
                 4),
       {noise({2, 3, 6}), noise({2, 4, 6}, 2), noise({2, 4, 6}, 3), allowed}},
      {"rotary",
       make_node("RotaryEmbedding", 4, {{"rotary_embedding_dim", int64_t{4}}}, 23),
       {noise({2, 3, 4, 6}), noise({7, 2}, 2), noise({7, 2}, 3),
        whole({2, 4}, {0, 1, 2, 3, 6, 5, 4, 0})}},
      {"rotary_interleaved",
       make_node("RotaryEmbedding", 3, {{"interleaved", int64_t{1}}, {"num_heads", int64_t{2}}},
                 23),
       {noise({2, 4, 12}), noise({2, 4, 3}, 2), noise({2, 4, 3}, 3)}},
      {"gather_elements",
       make_node("GatherElements", 2, {{"axis", int64_t{1}}}),
       {noise({2, 3, 2}), whole({2, 2, 1}, {-1, 0, 2, 1})}},
      {"gather_nd",
       make_node("GatherND", 2, {{"batch_dims", int64_t{1}}}),
       {noise({2, 3, 4, 2}), whole({2, 2, 2}, {0, -1, 2, 3, 1, 1, 0, 0})}},
      {"scatter_elements",
       make_node("ScatterElements", 3, {{"axis", int64_t{1}}}, 18),
       {noise({2, 3, 2}), whole({2, 2, 1}, {-1, 0, 2, 2}), noise({2, 2, 1}, 2)}},
      {"scatter_nd",
       make_node("ScatterND", 3, {}, 18),
       {noise({4, 3, 2}), whole({3, 2}, {0, -1, 3, 1, 0, 2}), noise({3, 2}, 2)}},
      {"scatter_of_infinities",
       make_node("ScatterND", 3, {}, 18),
       {odd, whole({2, 1}, {1, -1}), Tensor::of<float>({2}, {kNan, -kInf})}},
      {"scatter_that_adds_twice",
       make_node("ScatterElements", 3, {{"reduction", std::string("add")}}, 18),
       {noise({3, 2}), whole({2, 2}, {1, -1, 1, 0}), noise({2, 2}, 2)},
       {false, true}},
      {"scatter_of_the_largest",
       make_node("ScatterND", 3, {{"reduction", std::string("max")}}, 18),
       {Tensor::of<float>({3, 2}, {0, -kInf, kNan, 1, kInf, 2}), whole({4, 1}, {0, 1, 2, 0}),
        Tensor::of<float>({4, 2}, {1, -5, 3, kNan, 0, 9, -2, -kInf})},
       {false, true}},
      {"scatter_that_multiplies",
       make_node("ScatterND", 3, {{"reduction", std::string("mul")}}, 18),
       {noise({4, 2}), whole({3, 1}, {2, 2, -4}), noise({3, 2}, 2)},
       {false, true}},
      {"tensor_scatter",
       make_node("TensorScatter", 3, {}, 24),
       {noise({2, 3, 4, 2}), noise({2, 3, 2, 2}, 2), whole({2}, {2, 0})}},
      {"tensor_scatter_around",
       make_node("TensorScatter", 3, {{"mode", std::string("circular")}, {"axis", int64_t{1}}}, 24),
       {noise({2, 4, 3}), noise({2, 3, 3}, 2), whole({2}, {3, 1})}},
      {"reversed_by_time",
       make_node("ReverseSequence", 2),
       {noise({4, 3, 2}), whole({3}, {4, 0, 3})}},
      {"reversed_by_batch",
       make_node("ReverseSequence", 2, {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}}),
       {noise({3, 4}), whole({3}, {1, 4, 3})}},
      {"transform_of_real_values",
       make_node("DFT", 1, {{"axis", int64_t{1}}, {"onesided", int64_t{1}}}, 17),
       {noise({2, 5, 3, 1})}},
      {"inverse_transform_of_another_length",
       make_node("DFT", 3, {{"inverse", int64_t{1}}}, 20),
       {noise({2, 6, 2}), Tensor::scalar<int64_t>(4), Tensor::scalar<int64_t>(-2)},
       {false, true, true}},
      {"longer_transform",
       make_node("DFT", 2, {}, 20),
       {noise({2, 3, 2}), Tensor::scalar<int64_t>(5)},
       {false, true}},
      {"places_of_the_largest",
       make_node("MaxPool", 1,
                 {{"kernel_shape", list({3, 2})},
                  {"pads", list({1, 1, 1, 0})},
                  {"strides", list({2, 1})},
                  {"dilations", list({1, 2})}},
                 12, 2),
       {noise({2, 3, 5, 6})}},
      {"places_by_column_of_equal_values",
       make_node("MaxPool", 1,
                 {{"kernel_shape", list({2, 2})},
                  {"storage_order", int64_t{1}},
                  {"ceil_mode", int64_t{1}},
                  {"strides", list({2, 2})}},
                 12, 2),
       {Tensor::of<float>({1, 1, 3, 3}, {1, 2, -kInf, 2, 1, -kInf, 0, 0, kInf})}},
      {"places_in_a_line",
       make_node("MaxPool", 1, {{"kernel_shape", list({3})}, {"pads", list({2, 1})}}, 12, 2),
       {Tensor::of<float>({1, 2, 4}, {-3, -kInf, -kInf, -kInf, kNan, 1, kNan, 2})}},
      {"convolution_of_volumes",
       make_node("Conv", 3,
                 {{"group", int64_t{2}},
                  {"strides", list({2, 1, 2})},
                  {"dilations", list({1, 2, 1})},
                  {"pads", list({1, 2, 0, 2, 1, 1})}}),
       {noise({2, 4, 4, 5, 6}), noise({6, 2, 3, 2, 2}, 2), noise({6}, 3)},
       {false, true, true}},
      {"convolution_of_volumes_whose_windows_see_one_plane",
       make_node("Conv", 2, {{"auto_pad", std::string("SAME_UPPER")}}),
       {noise({1, 3, 4, 5, 6}), noise({2, 3, 1, 3, 3}, 2)},
       {false, true}},
      {"transposed_convolution_of_volumes",
       make_node("ConvTranspose", 3,
                 {{"strides", list({2, 1, 2})},
                  {"dilations", list({1, 2, 1})},
                  {"pads", list({1, 0, 1, 0, 1, 0})},
                  {"output_padding", list({1, 0, 1})}}),
       {noise({2, 3, 2, 3, 4}), noise({3, 2, 3, 2, 2}, 2), noise({2}, 3)},
       {false, true, true}},
      {"one_hot",
       make_node("OneHot", 3),
       {whole({3}, {1, -1, 7}), Tensor::scalar<int64_t>(4), Tensor::of<float>({2}, {0.1f, kInf})},
       {false, true}},
      {"where_of_infinities",
       make_node("Where", 3),
       {Tensor::of<bool>({2, 1}, {true, false}), Tensor::of<float>({3}, {kInf, 1, -kInf}),
        Tensor::of<float>({2, 3}, {1, kInf, 3, 4, -kInf, 6})}},
      {"less", make_node("Less", 2), {odd, Tensor::of<float>({6}, {0, -2, 1, kInf, kInf, 2})}},
      {"greater_or_equal", make_node("GreaterOrEqual", 2, {}, 16), {odd, Tensor::scalar(1.5f)}},
      {"is_inf", make_node("IsInf", 1, {{"detect_negative", int64_t{0}}}), {odd}},
      {"thresholded", make_node("ThresholdedRelu", 1, {{"alpha", 1.0}}), {odd}},
      {"thresholded_no_number",
       make_node("ThresholdedRelu", 1, {{"alpha", -1.0}}),
       {Tensor::of<float>({4}, {kNan, -0.5f, kInf, -kInf})}},
      {"shrink", make_node("Shrink", 1, {{"lambd", 1.5}, {"bias", 0.25}}), {odd}},
      {"shrink_no_number",
       make_node("Shrink", 1, {{"lambd", 0.0}, {"bias", 2.0}}),
       {Tensor::of<float>({4}, {kNan, -0.5f, kInf, 0})}},
      {"elu", make_node("Elu", 1, {{"alpha", 2.0}}), {noise({2, 3})}},
      {"celu", make_node("Celu", 1, {{"alpha", 2.0}}), {noise({2, 3})}},
      {"selu", make_node("Selu", 1), {noise({2, 3})}},
      {"softplus", make_node("Softplus", 1), {Tensor::of<float>({3}, {-90, 0.5f, 90})}},
      {"mish", make_node("Mish", 1, {}, 18), {noise({2, 3})}},
      {"abs", make_node("Abs", 1), {odd}},
      {"power_of_integers", make_node("Pow", 2), {noise({3}), whole({3}, {2, 3, 0})}},
      {"mean_of_three", make_node("Mean", 3), {noise({2, 3}), noise({3}, 2), noise({2, 1}, 3)}},
      {"depth_to_space",
       make_node("DepthToSpace", 1, {{"blocksize", int64_t{2}}}),
       {noise({1, 8, 2, 3})}},
      {"crop_and_pad",
       make_node("CenterCropPad", 2, {}, 18),
       {noise({4, 6, 3}), whole({3}, {6, 3, 3})},
       {false, true}},
      {"compress",
       make_node("Compress", 2, {{"axis", int64_t{1}}}),
       {noise({2, 3}), Tensor::of<bool>({3}, {true, false, true})},
       {false, true}},
      {"vector_product", make_node("MatMul", 2), {noise({2, 3, 4}), noise({4}, 2)}},
      {"affine_grid",
       make_node("AffineGrid", 2, {}, 20),
       {noise({2, 2, 3}), whole({4}, {2, 3, 4, 5})},
       {false, true}},
      {"average_of_volumes",
       make_node("AveragePool", 1,
                 {{"kernel_shape", list({2, 3, 2})},
                  {"pads", list({1, 1, 0, 0, 1, 1})},
                  {"strides", list({2, 1, 2})}},
                 19),
       {noise({2, 2, 4, 5, 6})}},
      {"largest_of_volumes",
       make_node("MaxPool", 1,
                 {{"kernel_shape", list({2, 2, 3})},
                  {"ceil_mode", int64_t{1}},
                  {"strides", list({2, 2, 2})}}),
       {noise({1, 2, 5, 5, 6})}},
      {"norm_of_windows",
       make_node("LpPool", 1,
                 {{"kernel_shape", list({3, 2})}, {"p", int64_t{3}}, {"pads", list({1, 0, 0, 1})}},
                 18),
       {noise({1, 2, 5, 6})}},
      {"transposed_convolution_of_groups",
       make_node("ConvTranspose", 3, {{"group", int64_t{2}}, {"strides", list({2, 2})}}),
       {noise({1, 4, 3, 3}), noise({4, 3, 2, 2}, 2), noise({6}, 3)},
       {false, true, true}},
  };
}

Sample equation(const char* name, const char* text, const std::vector<Shape>& shapes,
                std::vector<bool> constant = {}) {
  Sample sample{name, make_node("Einsum", shapes.size(), {{"equation", std::string(text)}}), {}};
  for (const Shape& shape : shapes)
    sample.inputs.push_back(noise(shape, static_cast<uint32_t>(sample.inputs.size() + 1)));
  sample.constant = std::move(constant);
  return sample;
}

std::vector<Sample> equation_samples() {
  return {
      equation("product", "ij,jk->ik", {{3, 4}, {4, 5}}),
      equation("product_by_weights", "...i,oi->...o", {{2, 3, 4}, {5, 4}}, {false, true}),
      equation("weights_on_the_left", "oc,nchw->nohw", {{5, 3}, {2, 3, 4, 2}}, {true, false}),
      equation("scores_of_heads", "bqhd,bkhd->bhqk", {{2, 3, 4, 5}, {2, 6, 4, 5}}),
      equation("values_of_heads", "bhqk,bkhd->bqhd", {{2, 4, 3, 6}, {2, 6, 4, 5}}),
      equation("one_batch_for_all", "...ij,...jk->...ik", {{2, 3, 4, 5}, {1, 5, 6}}),
      equation("ellipses_of_other_lengths", "...ij,...jk->...ik", {{4, 5}, {2, 3, 5, 6}}),
      equation("relative_positions", "nm,hmj,ij->hni", {{3, 4}, {2, 4, 5}, {6, 5}},
               {true, false, true}),
      equation("row_of_each_batch", "bd,bde->be", {{3, 4}, {3, 4, 5}}),
      equation("dot_of_each_row", "bid,bid->ib", {{3, 2, 4}, {3, 2, 4}}),
      equation("dot_of_all", "ij,ij->", {{3, 4}, {3, 4}}),
      equation("outer_product", "i,j->ij", {{3}, {4}}),
      equation("gate_of_channels", "bchw,bc->bhwc", {{2, 3, 4, 5}, {2, 3}}),
      equation("scaled_by_one_value", "ij,->ji", {{3, 4}, {}}),
      equation("sum_of_what_nobody_shares", "ijk,jl->il", {{2, 3, 4}, {3, 5}}),
      equation("permutation", "bhwc->bchw", {{2, 3, 4, 5}}),
      equation("reduction", "ijk->kj", {{2, 3, 4}}),
      equation("sum_of_all", "ij->", {{3, 4}}),
      equation("extents_of_1", "aib,bij->ja", {{1, 3, 1}, {1, 3, 4}}),
      equation("implied_output", "ij,kj", {{3, 4}, {5, 4}}),
  };
}

Tensor bytes(const Shape& shape, uint32_t seed, DType dtype = DType::kU8) {
  std::vector<float> values = test::floats(noise(shape, seed));
  for (float& v : values) v = std::nearbyint(dtype == DType::kU8 ? 128 + 127 * v : 127 * v);
  return Tensor::from(shape, std::span<const float>(values)).cast(dtype).value();
}

Tensor byte(int64_t value, DType dtype = DType::kU8) {
  return Tensor::scalar(value).cast(dtype).value();
}

std::vector<Sample> quantised_samples() {
  const auto scale = [](float value) { return Tensor::scalar(value); };
  const auto microsoft = [](const char* op, size_t inputs, Attributes attributes = {}) {
    return test::microsoft_node(op, inputs, std::move(attributes));
  };
  const Tensor scales = Tensor::of<float>({3}, {0.01f, 0.02f, 0.03f});
  const Tensor signed_zeros = Tensor::of<int8_t>({3}, {0, 5, -7});
  const Tensor bias = Tensor::of<int32_t>({3}, {100, -300, 7});
  const DType kI8 = DType::kI8;
  const std::vector<bool> first_alone = {false, true, true, true, true, true, true, true, true};
  return {
      {"quantise",
       make_node("QuantizeLinear", 3),
       {noise({2, 3, 5}), scale(0.013f), byte(100)},
       {false, true, true}},
      {"quantise_without_a_zero_point",
       make_node("QuantizeLinear", 2),
       {noise({2, 3, 5}), scale(0.013f)},
       {false, true}},
      {"quantise_by_channel",
       make_node("QuantizeLinear", 3, {{"axis", int64_t{1}}}),
       {noise({2, 3, 5}), scales, Tensor::of<int8_t>({3}, {3, 3, 3})},
       {false, true, true}},
      {"quantise_at_run_time",
       make_node("QuantizeLinear", 3),
       {noise({2, 3, 5}), scale(0.013f), byte(100)}},
      {"dequantise_by_channel",
       make_node("DequantizeLinear", 3, {{"axis", int64_t{1}}}),
       {bytes({2, 3, 5}, 1, kI8), scales, signed_zeros},
       {false, true, true}},
      {"quantise_as_it_runs", make_node("DynamicQuantizeLinear", 1, {}, 11, 3), {noise({2, 3, 5})}},
      {"convolution",
       make_node("QLinearConv", 9, {{"pads", list({1, 1, 1, 1})}}),
       {bytes({1, 4, 5, 5}, 1), scale(0.02f), byte(120), bytes({3, 4, 3, 3}, 2, kI8), scales,
        signed_zeros, scale(0.07f), byte(90), bias},
       first_alone},
      {"product",
       make_node("QLinearMatMul", 8),
       {bytes({2, 4, 5}, 1), scale(0.02f), byte(120), bytes({5, 3}, 2, kI8), scale(0.011f),
        byte(3, kI8), scale(0.043f), byte(90)},
       first_alone},
      {"sum",
       microsoft("QLinearAdd", 8),
       {bytes({2, 5}, 1), scale(0.021f), byte(120), bytes({2, 5}, 2), scale(0.013f), byte(110),
        scale(0.037f), byte(90)},
       {false, true, true, false, true, true, true, true}},
      {"sigmoid",
       microsoft("QLinearSigmoid", 5),
       {bytes({2, 5}, 1), scale(0.021f), byte(120), scale(0.0041f), byte(0)},
       first_alone},
      {"gemm",
       microsoft("QGemm", 9, {{"transB", int64_t{1}}, {"alpha", 0.5}}),
       {bytes({4, 5}, 1), scale(0.02f), byte(120), bytes({3, 5}, 2, kI8), scales, signed_zeros,
        bias, scale(0.013f), byte(90)},
       first_alone},
      {"product_to_floats",
       microsoft("MatMulIntegerToFloat", 7),
       {bytes({2, 4, 5}, 1), bytes({5, 3}, 2, kI8), scale(0.02f), scales, byte(120), signed_zeros,
        noise({3})},
       first_alone},
      {"product_of_what_is_quantised_as_it_runs",
       microsoft("DynamicQuantizeMatMul", 5),
       {noise({2, 4, 5}), bytes({5, 3}, 2, kI8), scales, signed_zeros, noise({3})},
       first_alone},
  };
}

class EachComposite : public testing::TestWithParam<Sample> {};

TEST_P(EachComposite, BecomesStepsThatGiveTheSame) {
  const Sample& sample = GetParam();
  const Graph before = graph_of(sample), after = expanded(sample);
  EXPECT_THAT(test::ops_of(before), ElementsAre(sample.node.op));
  const auto want = answer(before, sample), got = answer(after, sample);
  ASSERT_TRUE(want) << want.error().message;
  ASSERT_TRUE(got) << got.error().message;
  for (const auto& [name, tensor] : *want) {
    SCOPED_TRACE(name);
    expect_like(got->at(name), tensor);
  }
}

TEST_P(EachComposite, LeavesNoFloatsToTheHost) {
  const Graph graph = expanded(GetParam());
  size_t on_device = 0;
  for (const Node& node : graph.nodes) {
    EXPECT_TRUE(node.is_step) << node.op;
    if (has_kernel(graph, node)) {
      ++on_device;
    } else {
      const bool changes_type = node.op == "Cast" || node.op == kAsFloats || node.op == kAsIntegers;
      EXPECT_TRUE(changes_type || (!is_f32(graph, node.inputs) && !is_f32(graph, node.outputs)))
          << node.op;
    }
  }
  EXPECT_GT(on_device, 0u);
}

INSTANTIATE_TEST_SUITE_P(Samples, EachComposite, testing::ValuesIn(samples()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Equations, EachComposite, testing::ValuesIn(equation_samples()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Quantised, EachComposite, testing::ValuesIn(quantised_samples()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Recurrent, EachComposite, testing::ValuesIn(recurrent_samples()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ExpandComposites, LeavesALongWalkAndUnevenSequencesWhole) {
  Sample longer = recurrent("", "RNN", 1, {});
  longer.inputs[0] = noise({9, 3, 4});
  EXPECT_THAT(test::ops_of(expanded(longer)), ElementsAre("RNN"));
  EXPECT_THAT(
      test::ops_of(expanded(recurrent("", "GRU", 3, {}, {Tensor::of<int32_t>({3}, {1, 2, 2})}))),
      ElementsAre("GRU"));
}

TEST(ExpandComposites, LeavesDiagonalsOfAnEquationWhole) {
  EXPECT_THAT(test::ops_of(expanded(equation("", "ii,ij->j", {{3, 3}, {3, 4}}))),
              ElementsAre("Einsum"));
}

TEST(ExpandComposites, WritesAnEquationWithoutMovesThatItDoesNotNeed) {
  const auto ops = [](const char* text, const std::vector<Shape>& shapes,
                      std::vector<bool> constant = {}) {
    return test::ops_of(expanded(equation("", text, shapes, std::move(constant))));
  };
  EXPECT_THAT(ops("bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}), ElementsAre("MatMul"));
  EXPECT_THAT(ops("jk,ij->ik", {{4, 5}, {3, 4}}), ElementsAre("MatMul"));
  EXPECT_THAT(ops("kj,ij->ik", {{5, 4}, {3, 4}}, {true, false}), ElementsAre("MatMul"));
  EXPECT_THAT(ops("bhqd,bhkd->bhqk", {{2, 3, 4, 5}, {2, 3, 6, 5}}),
              ElementsAre("Reshape", "Transpose", "Reshape", "MatMul", "Reshape"));
  EXPECT_THAT(ops("bij,bi->bij", {{2, 3, 4}, {2, 3}}),
              ElementsAre("Reshape", "Reshape", "Mul", "Reshape"));
}

TEST(ExpandComposites, LeavesWhatHasAKernel) {
  const Graph graph = expanded({"",
                                make_node("LayerNormalization", 3, {}, 17),
                                {noise({2, 4}), noise({4}, 2), noise({4}, 3)},
                                {false, true, true}});
  EXPECT_THAT(test::ops_of(graph), ElementsAre("LayerNormalization"));
}

TEST(ExpandComposites, LeavesOtherFloatsThanF32) {
  const Tensor doubles = noise({2, 4}).cast(DType::kF64).value();
  EXPECT_THAT(test::ops_of(expanded({"", make_node("LogSoftmax", 1), {doubles}})),
              ElementsAre("LogSoftmax"));
}

TEST(ExpandComposites, LeavesAnOperatorWholeOfWhichAStepNeedsTheHost) {
  // A pool of windows that leave the input: its ceil mode has no size to multiply by.
  const Graph graph = expanded(
      {"",
       make_node("LpPool", 1, {{"kernel_shape", list({2, 2})}, {"ceil_mode", int64_t{1}}}, 18),
       {noise({1, 2, 5, 5})}});
  EXPECT_THAT(test::ops_of(graph), ElementsAre("LpPool"));
}

TEST(ExpandComposites, RefusesATargetThatIsNoClassAsTheOperatorDoes) {
  for (const int64_t target : {int64_t{-1}, int64_t{4}}) {
    const Sample sample{
        "", make_node("NegativeLogLikelihoodLoss", 2), {noise({2, 4}), whole({2}, {1, target})}};
    const Graph graph = expanded(sample);
    EXPECT_THAT(test::ops_of(graph), Contains("Gather"));
    EXPECT_FALSE(answer(graph, sample)) << target;
    EXPECT_FALSE(answer(graph_of(sample), sample)) << target;
  }
}

TEST(ExpandComposites, DoesNothingMoreTheSecondTime) {
  Graph graph = expanded({"", make_node("LogSoftmax", 1), {noise({2, 5})}});
  const auto ops = test::ops_of(graph);
  EXPECT_TRUE(expand_composites(graph));
  EXPECT_EQ(test::ops_of(graph), ops);
}

}  // namespace
}  // namespace clvet
