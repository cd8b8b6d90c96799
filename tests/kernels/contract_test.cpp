#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"
#include "kernels/op_trials.h"
#include "tests/kernels/tiny_case.h"

namespace clvet {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

// Window dims: H, W, kernel, stride, pad, output; N = 1, dilation 1.
Dims window(int64_t h, int64_t w, int64_t c, int64_t k, int64_t stride, int64_t pad, int64_t oh,
            int64_t ow, Dims more = {}) {
  Dims dims = {{"N", 1},
               {"H", h},
               {"W", w},
               {"C", c},
               {"KH", k},
               {"KW", k},
               {"stride_h", stride},
               {"stride_w", stride},
               {"pad_top", pad},
               {"pad_left", pad},
               {"dil_h", 1},
               {"dil_w", 1},
               {"OH", oh},
               {"OW", ow}};
  more.merge(dims);
  return more;
}

Dims image(int64_t n, int64_t h, int64_t w, int64_t c, Dims more = {}) {
  Dims dims = {{"N", n}, {"H", h}, {"W", w}, {"C", c}};
  dims.merge(more);
  return dims;
}

Dims rows(int64_t m, int64_t w, int64_t c, Dims more) {
  more.merge(Dims{{"M", m}, {"W", w}, {"C", c}});
  return more;
}

// The dims of a pad beyond its input: output extents, pads before, mode.
Dims padded(int64_t on, int64_t oh, int64_t ow, int64_t oc, int64_t p_n, int64_t p_h, int64_t p_w,
            int64_t p_c, int64_t mode) {
  return {{"ON", on},   {"OH", oh},   {"OW", ow},   {"OC", oc},    {"P_N", p_n},
          {"P_H", p_h}, {"P_W", p_w}, {"P_C", p_c}, {"mode", mode}};
}

std::vector<TinyCase> matrix_cases() {
  return {
      {"gemm",
       "gemm",
       {{"M", 2}, {"N", 2}, {"K", 3}, {"W", 2}},
       {{"x", {1, 2, 3, 4, 5, 6}}, {"w", {1, 0, 0, 1, 1, 1}}, {"bias", {10, -20}}},
       {14, -15, 20, -9}},
      {"gemm_relu",
       "gemm",
       {{"M", 1}, {"N", 2}, {"K", 1}, {"W", 1}, {"act", 1}},
       {{"x", {2}}, {"w", {3, -3}}, {"bias", {0, 1}}},
       {6, 0}},
      {"move",
       "move",
       {{"N", 1},
        {"H", 1},
        {"W", 2},
        {"C", 3},
        {"ON", 1},
        {"OH", 1},
        {"OW", 3},
        {"OC", 2},
        {"E0", 1},
        {"E1", 1},
        {"E2", 1},
        {"E3", 3},
        {"Q3", 1},
        {"F0", 1},
        {"F1", 1},
        {"F2", 2},
        {"RF2", -1},
        {"row0", 1}},
       {{"x", {1, 2, 3, 4, 5, 6}}},
       {4, 1, 5, 2, 6, 3}},
      {"concat",
       "concat",
       {{"N", 1}, {"H", 1}, {"W", 2}, {"C", 3}, {"axis", 3}, {"P1", 2}, {"P2", 1}},
       {{"x1", {1, 2, 3, 4}}, {"x2", {5, 6}}, {"x3", {0, 0, 0, 0}}, {"x4", {0, 0, 0, 0}}},
       {1, 2, 5, 3, 4, 6}},
      {"reduce_scaled",
       "reduce",
       {{"M", 2}, {"W", 1}, {"C", 2}, {"code", 7}, {"act", 13}},
       {{"x", {1, 2, 3, 4}}},
       {3.5, 13.5},
       {{"act_lo", 0.5}, {"act_hi", 1}}},
      {"gemv",
       "gemv",
       {{"N", 1}, {"K", 2}},
       {{"x", {3, 4}}, {"w", {0.5, 2}}, {"bias", {1}}},
       {10.5}},
      {"bmm_pairs",
       "bmm",
       {{"N", 2}, {"H", 1}, {"M", 1}, {"K", 2}, {"C", 2}, {"N2", 2}, {"H2", 1}},
       {{"x1", {1, 2, 3, 4}}, {"x2", {1, 2, 3, 4, 5, 6, 7, 8}}},
       {7, 10, 43, 50}},
      {"bmm_shared_lines",
       "bmm",
       {{"N", 1}, {"H", 2}, {"M", 1}, {"K", 2}, {"C", 1}, {"N2", 1}, {"H2", 1}, {"act", 1}},
       {{"x1", {1, 2, 3, -4}}, {"x2", {10, 1}}},
       {12, 26}},
  };
}

std::vector<TinyCase> window_cases() {
  return {
      {"conv2d",
       "conv2d",
       window(2, 2, 1, 3, 1, 1, 2, 2, {{"OC", 1}}),
       {{"x", {1, 2, 3, 4}}, {"w", {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {"bias", {0.5}}},
       {77.5, 67.5, 47.5, 37.5}},
      {"conv2d_channels",
       "conv2d",
       window(1, 1, 2, 1, 1, 0, 1, 1, {{"OC", 2}}),
       {{"x", {2, 3}}, {"w", {1, 10, 100, 1000}}, {"bias", {0, 0}}},
       {302, 3020}},
      {"depthwise",
       "depthwise",
       window(2, 3, 2, 2, 2, 0, 1, 1),
       {{"x", {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60}},
        {"w", {1, 0, 0, 1, 1, 0, 0, 0}},
        {"bias", {0, 7}}},
       {5, 27}},
      {"max_pool",
       "pool",
       window(2, 2, 1, 2, 1, 1, 3, 3,
              {{"pad_bottom", 1}, {"pad_right", 1}, {"kind", 0}, {"count_include_pad", 0}}),
       {{"x", {-1, -2, -3, -4}}},
       {-1, -1, -2, -1, -1, -2, -3, -3, -4}},
      {"average_without_pads",
       "pool",
       window(2, 2, 1, 2, 2, 1, 2, 2,
              {{"pad_bottom", 1}, {"pad_right", 1}, {"kind", 1}, {"count_include_pad", 0}}),
       {{"x", {1, 2, 3, 4}}},
       {1, 2, 3, 4}},
      {"average_with_pads",
       "pool",
       window(2, 2, 1, 2, 2, 1, 2, 2,
              {{"pad_bottom", 0}, {"pad_right", 1}, {"kind", 1}, {"count_include_pad", 1}}),
       {{"x", {1, 2, 3, 4}}},
       {0.25, 0.5, 1.5, 2}},
      {"global_average",
       "pool_global",
       image(1, 1, 2, 2, {{"kind", 1}}),
       {{"x", {1, 2, 3, 6}}},
       {2, 4}},
      {"global_max",
       "pool_global",
       image(2, 2, 1, 1, {{"kind", 0}}),
       {{"x", {1, 2, -3, -6}}},
       {2, -3}},
      {"conv_transpose",
       "conv_transpose",
       window(2, 2, 1, 3, 2, 1, 3, 3, {{"OC", 1}}),
       {{"x", {1, 2, 3, 4}}, {"w", {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {"bias", {0.5}}},
       {5.5, 14.5, 10.5, 14.5, 36.5, 24.5, 15.5, 34.5, 20.5}},
      {"conv_transpose_channels",
       "conv_transpose",
       window(1, 1, 2, 1, 2, 0, 1, 2, {{"OC", 2}}),
       {{"x", {2, 3}}, {"w", {1, 10, 100, 1000}}, {"bias", {0, 7}}},
       {302, 3027, 0, 7}},
      {"grouped",
       "conv2d_group",
       window(1, 1, 4, 1, 1, 0, 1, 1, {{"OC", 2}, {"G", 2}}),
       {{"x", {1, 2, 3, 4}}, {"w", {1, 10, 100, 1000}}, {"bias", {0, 0.5}}},
       {201, 4030.5}},
      {"depthwise_with_a_multiplier",
       "conv2d_group",
       window(1, 2, 2, 2, 1, 0, 1, 1, {{"OC", 4}, {"G", 2}, {"KH", 1}}),
       {{"x", {1, 10, 2, 20}}, {"w", {1, 2, 3, 4, 5, 6, 7, 8}}, {"bias", {0, 0, 0, 0}}},
       {11, 14, 170, 200}},
  };
}

std::vector<TinyCase> row_cases() {
  return {
      {"softmax",
       "softmax",
       {{"M", 2}, {"W", 1}, {"C", 2}},
       {{"x", {0, std::log(3.0), 700, 700}}},
       {0.25, 0.75, 0.5, 0.5}},
      {"reduce_sum", "reduce", rows(2, 1, 3, {{"code", 0}}), {{"x", {1, 2, 4, -1, 0, 3}}}, {7, 2}},
      {"reduce_mean", "reduce", rows(2, 2, 2, {{"code", 1}}), {{"x", {1, 2, 4, -1}}}, {1.5, 1.5}},
      {"reduce_max", "reduce", rows(2, 1, 2, {{"code", 2}}), {{"x", {1, 2, -4, -1}}}, {2, -1}},
      {"reduce_min", "reduce", rows(2, 1, 2, {{"code", 3}}), {{"x", {1, 2, -4, -1}}}, {1, -4}},
      {"reduce_prod", "reduce", rows(1, 1, 3, {{"code", 4}}), {{"x", {2, -3, 4}}}, {-24}},
      {"reduce_l1", "reduce", rows(1, 1, 3, {{"code", 5}}), {{"x", {2, -3, 4}}}, {9}},
      {"reduce_l2", "reduce", rows(1, 1, 2, {{"code", 6}}), {{"x", {-3, 4}}}, {5}},
      {"reduce_squares", "reduce", rows(1, 1, 2, {{"code", 7}}), {{"x", {-3, 4}}}, {25}},
      {"reduce_log_sum", "reduce", rows(1, 1, 2, {{"code", 8}}), {{"x", {3, 4}}}, {std::log(7.0)}},
      {"reduce_log_sum_exp",
       "reduce",
       rows(2, 1, 2, {{"code", 9}}),
       {{"x", {800, 800, 0, std::log(3.0)}}},
       {800 + std::log(2.0), std::log(4.0)}},
      {"layer_norm",
       "layer_norm",
       rows(2, 1, 2, {{"rms", 0}}),
       {{"x", {1, 5, 6, 6}}, {"scale", {3, 2}}, {"bias", {10, 20}}},
       {10 - 3 * 2 / std::sqrt(5.0), 20 + 2 * 2 / std::sqrt(5.0), 10, 20},
       {{"epsilon", 1}}},
      {"rms_norm",
       "layer_norm",
       rows(1, 1, 2, {{"rms", 1}}),
       {{"x", {1, 7}}, {"scale", {5, 10}}, {"bias", {0, 1}}},
       {1, 15},
       {{"epsilon", 0}}},
  };
}

std::vector<TinyCase> pixel_cases() {
  return {
      {"unary",
       "eltwise_unary",
       image(1, 1, 1, 3, {{"act", 2}}),
       {{"x", {-2, 0.5, 9}}},
       {-1, 0.5, 6},
       {{"act_lo", -1}, {"act_hi", 6}}},
      {"round_to_even",
       "eltwise_function",
       image(1, 1, 1, 3, {{"code", 15}}),
       {{"x", {-2.5, 0.75, 3.5}}},
       {-2, 1, 4}},
      {"sub_by_channel",
       "eltwise_binary",
       image(1, 1, 2, 2, {{"N2", 1}, {"H2", 1}, {"W2", 1}, {"C2", 2}, {"code", 1}}),
       {{"x1", {1, 2, 3, 4}}, {"x2", {1, 10}}},
       {0, -8, 2, -6}},
      {"div_reversed_by_pixel",
       "eltwise_binary",
       image(1, 1, 2, 2, {{"N2", 1}, {"H2", 1}, {"W2", 2}, {"C2", 1}, {"code", 8}}),
       {{"x1", {1, 2, 3, 4}}, {"x2", {2, 12}}},
       {2, 1, 4, 3}},
      {"resize_nearest",
       "resize",
       image(1, 1, 3, 1, {{"OH", 2}, {"OW", 6}, {"mode", 0}, {"transform", 1}, {"rounding", 2}}),
       {{"x", {1, 2, 3}}},
       {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3},
       {{"scale_h", 2}, {"scale_w", 2}}},
      {"resize_ties_to_the_ceiling",
       "resize",
       image(1, 1, 2, 1, {{"OH", 1}, {"OW", 3}, {"mode", 0}, {"transform", 2}, {"rounding", 3}}),
       {{"x", {1, 2}}},
       {1, 2, 2},
       {{"scale_h", 1}, {"scale_w", 1.5}}},
      {"resize_linear",
       "resize",
       image(1, 2, 2, 1, {{"OH", 2}, {"OW", 4}, {"mode", 1}, {"transform", 1}, {"rounding", 0}}),
       {{"x", {0, 4, 8, 16}}},
       {0, 1, 3, 4, 8, 10, 14, 16},
       {{"scale_h", 1}, {"scale_w", 2}}},
      {"resize_one_to_its_middle",
       "resize",
       image(1, 1, 4, 1, {{"OH", 1}, {"OW", 1}, {"mode", 1}, {"transform", 1}, {"rounding", 0}}),
       {{"x", {0, 4, 8, 16}}},
       {6},
       {{"scale_h", 1}, {"scale_w", 0.25}}},
      {"resize_one_to_its_first",
       "resize",
       image(1, 1, 4, 1, {{"OH", 1}, {"OW", 1}, {"mode", 1}, {"transform", 3}, {"rounding", 0}}),
       {{"x", {1, 4, 8, 16}}},
       {1},
       {{"scale_h", 1}, {"scale_w", 0.25}}},
      {"pad_constant",
       "pad",
       image(1, 1, 2, 2, padded(1, 1, 3, 3, 0, 0, 0, 1, 0)),
       {{"x", {1, 2, 3, 4}}},
       {9, 1, 2, 9, 3, 4, 9, 9, 9},
       {{"value", 9}}},
      {"pad_edge_of_a_cut",
       "pad",
       image(1, 3, 1, 1, padded(1, 4, 1, 1, 0, -1, 0, 0, 1)),
       {{"x", {1, 2, 3}}},
       {2, 3, 3, 3},
       {{"value", 0}}},
      {"pad_reflect",
       "pad",
       image(1, 1, 3, 1, padded(1, 1, 8, 1, 0, 0, 3, 0, 2)),
       {{"x", {1, 2, 3}}},
       {2, 3, 2, 1, 2, 3, 2, 1},
       {{"value", 0}}},
      {"pad_wrap",
       "pad",
       image(2, 1, 1, 1, padded(5, 1, 1, 1, 1, 0, 0, 0, 3)),
       {{"x", {1, 2}}},
       {2, 1, 2, 1, 2},
       {{"value", 0}}},
  };
}

// Those of the ops' own files.
std::vector<TinyCase> examples() {
  std::vector<TinyCase> cases;
  for (const OpContract* contract : op_contracts()) {
    const std::string path = "reference/" + std::string(contract->op) + ".json";
    const auto trials = parse_op_trials(path, kernel_text(path).value_or(""));
    if (!trials) continue;  // EmbeddedTrials says so
    for (const OpExample& row : trials->examples) {
      const auto& [dims, scalars, tensors] = row.values;
      cases.push_back({row.name, trials->op, dims, tensors, row.want, scalars});
    }
  }
  return cases;
}

std::vector<TinyCase> tiny_cases() {
  std::vector<TinyCase> cases = examples();
  for (const auto& part :
       {matrix_cases(), window_cases(), row_cases(), pixel_cases(), language_cases()}) {
    cases.insert(cases.end(), part.begin(), part.end());
  }
  return cases;
}

class TinyReference : public testing::TestWithParam<TinyCase> {};

TEST_P(TinyReference, HasTheValuesComputedByHand) {
  const TinyCase& tiny = GetParam();
  const OpContract* contract = find_op_contract(tiny.op);
  ASSERT_NE(contract, nullptr);
  const auto roles = contract->roles(tiny.dims);
  ASSERT_TRUE(roles) << roles.error().message;
  int64_t outputs = 0;
  for (const TensorRole& role : *roles) {
    if (role.kind == TensorKind::kOutput) {
      EXPECT_EQ(role.name == "y", outputs == 0);
      outputs += role.elements();
    } else {
      ASSERT_TRUE(tiny.tensors.contains(role.name)) << role.name;
      EXPECT_EQ(role.elements(), static_cast<int64_t>(tiny.tensors.at(role.name).size()));
    }
  }
  EXPECT_EQ(outputs, static_cast<int64_t>(tiny.want.size()));
  const ReferenceResult result = contract->reference({tiny.dims, tiny.scalars, tiny.tensors});
  Values written = tiny.want;
  for (size_t i = 0; i < written.size(); ++i) {
    const bool untouched = !result.untouched.empty() && result.untouched[i];
    EXPECT_EQ(untouched, written[i] == kUntouched) << i;
    if (untouched) written[i] = result.value[i];
  }
  EXPECT_THAT(result.value, Pointwise(DoubleEq(), written));
  for (const Values* optional : {&result.sum_squares, &result.sensitivity, &result.functions}) {
    EXPECT_TRUE(optional->empty() || optional->size() == tiny.want.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, TinyReference, testing::ValuesIn(tiny_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Contracts, AreSortedAndEachHasATinyCase) {
  std::set<std::string> covered;
  for (const TinyCase& tiny : tiny_cases()) covered.insert(tiny.op);
  std::string_view last;
  for (const OpContract* contract : op_contracts()) {
    EXPECT_LT(last, contract->op);
    last = contract->op;
    EXPECT_TRUE(covered.contains(std::string(contract->op))) << contract->op;
  }
  EXPECT_EQ(find_op_contract("none"), nullptr);
}

TEST(Contract, NamesTheDimThatIsAbsentOrWrong) {
  const OpContract* gemm = find_op_contract("gemm");
  EXPECT_THAT(gemm->roles({{"M", 4}, {"N", 4}, {"W", 1}}).error().message, HasSubstr("'K'"));
  EXPECT_THAT(gemm->roles({{"M", 4}, {"N", 0}, {"K", 1}, {"W", 1}}).error().message,
              HasSubstr("'N' = 0"));
  EXPECT_EQ(gemm->roles({{"M", 5}, {"N", 1}, {"K", 1}, {"W", 2}}).error().code,
            ErrorCode::kInvalidArgument);
  Dims no_pad = window(4, 4, 1, 1, 1, 0, 4, 4, {{"OC", 1}});
  no_pad.erase("pad_left");
  EXPECT_THAT(find_op_contract("conv2d")->roles(no_pad).error().message, HasSubstr("'pad_left'"));
  const Dims wide = image(1, 1, 1, 4, {{"N2", 1}, {"H2", 1}, {"W2", 1}, {"C2", 3}, {"code", 0}});
  EXPECT_THAT(find_op_contract("eltwise_binary")->roles(wide).error().message, HasSubstr("C2"));
}

TEST(ProductsOfMatrices, AreThoseOfEachPixelOfTheFirstOutput) {
  const auto matrix = [](int64_t taps) {
    return TensorRole{.kind = TensorKind::kWeights, .taps = taps, .cin = 5, .cout = 7};
  };
  const TensorRole x = {.kind = TensorKind::kInput, .n = 9, .c = 5};
  const TensorRole y = {.kind = TensorKind::kOutput, .n = 2, .h = 3, .w = 4, .c = 14};
  const TensorRole other = {.kind = TensorKind::kOutput, .n = 100};
  EXPECT_EQ(products_of_matrices({x, matrix(1), matrix(9), y, other}), 24.0 * (35 + 9 * 35));
  EXPECT_EQ(products_of_matrices({x, matrix(1), y}), 0);
  EXPECT_EQ(products_of_matrices({x, y}), 0);
}

struct RefusedDims {
  const char* name;
  const char* op;
  Dims dims;
  const char* message;
};

// Two layers of a decoder.
Dims decoder(Dims more) {
  more.merge(Dims{{"L", 2},
                  {"count", 2},
                  {"C", 64},
                  {"F", 32},
                  {"H", 2},
                  {"KV", 1},
                  {"D", 8},
                  {"cap", 2},
                  {"P", 1}});
  return more;
}

class Refused : public testing::TestWithParam<RefusedDims> {};

TEST_P(Refused, NamesWhatIsWrong) {
  const auto roles = find_op_contract(GetParam().op)->roles(GetParam().dims);
  ASSERT_FALSE(roles);
  EXPECT_EQ(roles.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(roles.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Dims, Refused,
    testing::Values(
        RefusedDims{"reduce_code", "reduce", rows(2, 1, 2, {{"code", 10}}), "code = 10"},
        RefusedDims{"reduce_rows", "reduce", rows(3, 2, 2, {{"code", 0}}), "M = 3"},
        RefusedDims{"softmax_rows", "softmax", rows(3, 2, 2, {}), "softmax: M = 3"},
        RefusedDims{"norm_kind", "layer_norm", rows(2, 1, 2, {{"rms", 2}}), "rms = 2"},
        RefusedDims{"bmm_batch",
                    "bmm",
                    {{"N", 1}, {"H", 1}, {"M", 1}, {"K", 2}, {"C", 1}, {"N2", 2}, {"H2", 1}},
                    "N2 = 2"},
        RefusedDims{"bmm_lines",
                    "bmm",
                    {{"N", 1}, {"H", 4}, {"M", 1}, {"K", 2}, {"C", 1}, {"N2", 1}, {"H2", 2}},
                    "H2 = 2"},
        RefusedDims{"resize_mode", "resize",
                    image(1, 1, 1, 1,
                          {{"OH", 1}, {"OW", 1}, {"mode", 9}, {"transform", 0}, {"rounding", 0}}),
                    "mode = 9"},
        RefusedDims{"resize_output", "resize",
                    image(1, 1, 1, 1,
                          {{"OH", 1}, {"OW", 0}, {"mode", 0}, {"transform", 0}, {"rounding", 0}}),
                    "'OW' = 0"},
        RefusedDims{"transpose_channels", "conv_transpose", window(1, 1, 1, 1, 1, 0, 1, 1), "'OC'"},
        RefusedDims{"group_channels", "conv2d_group",
                    window(1, 1, 4, 1, 1, 0, 1, 1, {{"OC", 3}, {"G", 2}}), "G = 2"},
        RefusedDims{"branches_without_a_window", "conv2d_branches",
                    window(4, 4, 1, 1, 1, 0, 4, 4, {{"OC", 3}, {"P", 3}}), "P = 3"},
        RefusedDims{"branches_without_pixels", "conv2d_branches",
                    window(4, 4, 1, 1, 1, 0, 4, 4, {{"OC", 3}}), "'P'"},
        RefusedDims{"branches_beyond_the_input", "conv2d_branches",
                    window(4, 4, 1, 1, 2, 0, 3, 2, {{"OC", 3}, {"P", 1}}), "output of 3 x 2"},
        RefusedDims{"decoder_layers_behind_the_last", "decoder_layers", decoder({{"first", 1}}),
                    "layers 1 to 3 must be among the 2"},
        RefusedDims{"decoder_layers_before_the_first", "decoder_layers",
                    decoder({{"first", -1}, {"count", 1}}), "layers -1 to 0"},
        RefusedDims{"decoder_layers_more_than_all", "decoder_layers", decoder({{"count", 3}}),
                    "layers 0 to 3"},
        RefusedDims{"decoder_layers_none", "decoder_layers", decoder({{"count", 0}}),
                    "'count' = 0"},
        RefusedDims{"decoder_layers_row", "decoder_layers", decoder({{"C", 48}}),
                    "C = 48 and F = 32 must be multiples of 32"},
        RefusedDims{"decoder_layers_gate", "decoder_layers", decoder({{"F", 36}}),
                    "C = 64 and F = 36 must be multiples of 32"},
        RefusedDims{"decoder_layers_cache", "decoder_layers", decoder({{"P", 2}}),
                    "cache of 2 rows"},
        RefusedDims{"pad_mode", "pad", image(1, 1, 1, 1, padded(1, 1, 1, 1, 0, 0, 0, 0, 4)),
                    "mode = 4"},
        RefusedDims{"pad_before", "pad",
                    image(1, 1, 1, 1, {{"ON", 1}, {"OH", 1}, {"OW", 1}, {"OC", 1}}), "'P_N'"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Epilogue, KeepsTheBoundOpenNearAKink) {
  const Dims dims = {{"N", 1}, {"K", 64}, {"act", 1}};
  CallValues values{dims, {}, {{"x", Values(64, 1)}, {"w", Values(64, 1)}, {"bias", {-64.001}}}};
  const ReferenceResult result = find_op_contract("gemv")->reference(values);
  EXPECT_EQ(result.value[0], 0);
  EXPECT_EQ(result.sensitivity[0], 1) << "half rounding may well have moved z above zero";
}

}  // namespace
}  // namespace clvet
