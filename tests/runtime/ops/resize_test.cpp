// Resize and Upsample against sums over all source elements, weighted as ONNX's text says.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::i64s;
using test::Index;
using test::list;
using test::make_node;
using test::noise;
using test::refusal;
using test::word;
using ::testing::HasSubstr;

const Tensor kNone = Tensor::of<float>({0}, {});

Tensor reals(const std::vector<float>& values) {
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}

Node resize(const char* mode, const char* transform, Attributes more = {}, size_t inputs = 3) {
  more["mode"] = word(mode);
  more["coordinate_transformation_mode"] = word(transform);
  return make_node("Resize", inputs, std::move(more), 19);
}

// Where output position `at` lies in the source; `length` is in * scale where not rounded.
double place(const std::string& transform, double at, double in, double out, double scale) {
  if (transform == "asymmetric") return at / scale;
  if (transform == "align_corners") return out == 1 ? 0 : at * (in - 1) / (out - 1);
  if (transform == "pytorch_half_pixel") return out > 1 ? (at + 0.5) / scale - 0.5 : 0;
  if (transform == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (transform == "half_pixel_symmetric") {
    return in / 2 * (1 - out / (scale * in)) + (at + 0.5) / scale - 0.5;
  }
  return (at + 0.5) / scale - 0.5;
}

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }
// Keys' function with a = -3/4.
double cubic(double x) {
  const double a = -0.75, s = std::abs(x);
  if (s <= 1) return (a + 2) * s * s * s - (a + 3) * s * s + 1;
  return s < 2 ? a * s * s * s - 5 * a * s * s + 8 * a * s - 4 * a : 0;
}

// The weight of source element `from`, which also stands for all beyond its end of the axis.
double weight(double (*filter)(double), double where, int64_t from, int64_t in) {
  double sum = 0;
  for (int64_t i = -8; i < in + 8; ++i) {
    if (std::clamp<int64_t>(i, 0, in - 1) == from) sum += filter(static_cast<double>(i) - where);
  }
  return sum;
}

struct Size {
  double scale;
  int64_t in, out;
};

Grid plain(const Tensor& x, double (*filter)(double), const char* transform, Size down,
           Size across) {
  const Grid grid(x);
  const auto at = [&](const Size& s, int64_t i) {
    return place(transform, static_cast<double>(i), static_cast<double>(s.in),
                 static_cast<double>(s.out), s.scale);
  };
  return Grid({1, 2, down.out, across.out}, [&](const Index& to) {
    double sum = 0;
    test::each_index({down.in, across.in}, [&](const Index& from) {
      sum += weight(filter, at(down, to[2]), from[0], down.in) *
             weight(filter, at(across, to[3]), from[1], across.in) *
             grid.at({0, to[1], from[0], from[1]});
    });
    return sum;
  });
}

// Weights up to 1.4 on 16 values below 1, rounded to float32 after each axis.
TEST(Resize, InterpolatesAsEachTransformSays) {
  const Tensor x = noise({1, 2, 4, 5}, 8);
  const Size sizes[][2] = {{{2, 4, 8}, {3, 5, 15}},
                           {{0.5, 4, 2}, {0.6, 5, 3}},
                           {{1, 4, 4}, {1.5, 5, 7}},
                           {{2.5, 4, 10}, {0.4, 5, 2}}};
  for (const char* transform :
       {"asymmetric", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"}) {
    for (const auto& [down, across] : sizes) {
      SCOPED_TRACE(std::string(transform) + ' ' + std::to_string(down.scale));
      const Tensor scales = Tensor::of<float>(
          {4}, {1, 1, static_cast<float>(down.scale), static_cast<float>(across.scale)});
      // A scale is given as float32.
      const Size y{static_cast<float>(down.scale), down.in, down.out};
      const Size z{static_cast<float>(across.scale), across.in, across.out};
      test::expect_grid(test::run_one(resize("linear", transform), {x, kNone, scales}),
                        plain(x, triangle, transform, y, z), 1e-6);
      test::expect_grid(test::run_one(resize("cubic", transform), {x, kNone, scales}),
                        plain(x, cubic, transform, y, z), 1e-6);
    }
  }
}

TEST(Resize, AlignsCornersBySizes) {
  const Tensor x = noise({1, 2, 4, 5}, 8);
  for (const auto& [h, w] : {std::pair<int64_t, int64_t>{7, 3}, {1, 9}, {4, 1}}) {
    const Size down{static_cast<double>(h) / 4, 4, h}, across{static_cast<double>(w) / 5, 5, w};
    const Node node = resize("linear", "align_corners", {}, 4);
    test::expect_grid(test::run_one(node, {x, kNone, kNone, i64s({1, 2, h, w})}),
                      plain(x, triangle, "align_corners", down, across), 1e-6);
  }
}

// 0.7 is 0.69999999 in float32, whose product with 10 is 7: as PyTorch and onnxruntime have it.
TEST(Resize, RoundsTheProductOfExtentAndScaleInFloat32) {
  const std::pair<int64_t, float> rows[] = {
      {10, 0.7f}, {10, 0.9f}, {5, 2.6f}, {10, 2.3f}, {10, 1.3f}};
  const int64_t extents[] = {7, 9, 13, 23, 13};
  for (size_t i = 0; i < std::size(rows); ++i) {
    const auto& [in, scale] = rows[i];
    const Tensor y =
        test::run_one(resize("nearest", "asymmetric"), {noise({in}, 3), kNone, reals({scale})});
    EXPECT_EQ(y.shape(), Shape{extents[i]}) << in << " by " << scale;
  }
}

// Corner on corner: 0 to 4 in steps of 4/6, where the scale would have put 7.7 outputs.
TEST(Resize, AlignsCornersByScalesWhoseProductIsNotWhole) {
  const Tensor x = Tensor::of<float>({5}, {0, 1, 2, 3, 4});
  const auto y =
      test::floats(test::run_one(resize("linear", "align_corners"), {x, kNone, reals({1.55f})}));
  ASSERT_EQ(y.size(), 7u);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], static_cast<double>(i) * 4 / 6, 1e-6);
}

// 13 / 1.3 is 10 in float32, and 10.0000004 for the float32 nearest to 1.3.
TEST(Resize, TakesTheNearestOfPositionsInFloat32) {
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor x = Tensor::from<float>({12}, values);
  const Node node = resize("nearest", "asymmetric", {{"nearest_mode", word("ceil")}});
  EXPECT_EQ(test::floats(test::run_one(node, {x, kNone, reals({1.3f})})).at(13), 10);
}

TEST(Resize, PutsASingleOutputWhereEachTransformSays) {
  const Tensor x = Tensor::of<float>({3}, {10, 20, 40});
  const auto run = [&](const char* transform) {
    return test::floats(test::run_one(resize("linear", transform), {x, kNone, reals({0.5f})}));
  };
  EXPECT_EQ(run("half_pixel"), (std::vector<float>{15}));            // 0.5 / 0.5 - 0.5 = 0.5
  EXPECT_EQ(run("pytorch_half_pixel"), (std::vector<float>{10}));    // 0 where one is left of 1.5
  EXPECT_EQ(run("asymmetric"), (std::vector<float>{10}));            // 0
  EXPECT_EQ(run("half_pixel_symmetric"), (std::vector<float>{20}));  // 1.5 (1 - 1/1.5) + 0.5 = 1
}

// Places of 6 outputs for 4 elements, half_pixel: (i + 0.5) / 1.5 - 0.5.
TEST(Resize, RoundsToTheNearestAsEachModeSays) {
  const Tensor x = Tensor::of<float>({4}, {0, 1, 2, 3});
  const auto run = [&](const char* rounding, const char* transform, float scale) {
    const Node node = resize("nearest", transform, {{"nearest_mode", word(rounding)}});
    return test::floats(test::run_one(node, {x, kNone, reals({scale})}));
  };
  EXPECT_EQ(run("floor", "half_pixel", 1.5f), (std::vector<float>{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(run("ceil", "half_pixel", 1.5f), (std::vector<float>{0, 1, 2, 2, 3, 3}));
  // Half a source element apart: 0.5, 2.5.
  EXPECT_EQ(run("round_prefer_floor", "half_pixel", 0.5f), (std::vector<float>{0, 2}));
  EXPECT_EQ(run("round_prefer_ceil", "half_pixel", 0.5f), (std::vector<float>{1, 3}));
  // (i + 0.5) / 2 without the half taken off again: 0.25, 0.75, 1.25, ...
  EXPECT_EQ(run("floor", "tf_half_pixel_for_nn", 2), (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(run("ceil", "tf_half_pixel_for_nn", 2), (std::vector<float>{1, 1, 2, 2, 3, 3, 3, 3}));
}

TEST(Resize, NearestKeepsInt64ThatNoDoubleHolds) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  const Node node = resize("nearest", "asymmetric", {{"nearest_mode", word("floor")}});
  EXPECT_EQ(test::run_one(node, {i64s({odd, -odd}), kNone, reals({2})}).to_i64(),
            (std::vector<int64_t>{odd, odd, -odd, -odd}));
}

// Integers are rounded toward zero once, after all axes, and never beyond their range.
TEST(Resize, RoundsIntegersOnceAndWithinTheirRange) {
  const Tensor x = Tensor::of<uint8_t>({2, 2}, {0, 1, 1, 2});
  const Node middle = resize("linear", "half_pixel");
  EXPECT_EQ(test::run_one(middle, {x, kNone, reals({0.5f, 0.5f})}).to_i64(),
            (std::vector<int64_t>{1}));
  const Tensor edge = Tensor::of<uint8_t>({6}, {0, 0, 0, 255, 255, 255});
  const Tensor y = test::run_one(resize("cubic", "half_pixel"), {edge, kNone, reals({2})});
  const std::vector<int64_t> values = y.to_i64();
  EXPECT_TRUE(std::is_sorted(values.begin() + 5, values.begin() + 7));
  EXPECT_EQ(values[4], 0) << "undershoots to 0";
  EXPECT_EQ(values[7], 255) << "overshoots to 255";
}

// The widened triangle on half the elements: places 0.5 and 2.5, weights 1/8, 3/8, 3/8, 1/8 of the
// four elements around each, the ends repeated.
TEST(Resize, AntialiasesByAWiderFilter) {
  const Tensor x = Tensor::of<float>({4}, {8, 16, 32, 64});
  const Node node = resize("linear", "half_pixel", {{"antialias", int64_t{1}}});
  EXPECT_EQ(
      test::floats(test::run_one(node, {x, kNone, reals({0.5f})})),
      (std::vector<float>{(8 + 3 * 8 + 3 * 16 + 32) / 8.f, (16 + 3 * 32 + 3 * 64 + 64) / 8.f}));
}

// At place -0.25 the cubic weights of elements -2..1 lose those of -2 and -1, the rest is scaled
// up.
TEST(Resize, ExcludesWhatIsOutside) {
  const Tensor x = Tensor::of<float>({4}, {1, 2, 4, 8});
  const Node node = resize("cubic", "half_pixel", {{"exclude_outside", int64_t{1}}});
  const auto y = test::floats(test::run_one(node, {x, kNone, reals({2})}));
  const double w0 = cubic(0.25), w1 = cubic(1.25);
  EXPECT_NEAR(y[0], (w0 + 2 * w1) / (w0 + w1), 1e-6);
}

TEST(Resize, CropsARegionAndFillsWhatIsOutside) {
  const Tensor x = Tensor::of<float>({4}, {0, 10, 20, 30});
  const Node node = resize("linear", "tf_crop_and_resize", {{"extrapolation_value", -1.0}}, 4);
  const auto run = [&](float start, float end) {
    return test::floats(test::run_one(node, {x, reals({start, end}), kNone, i64s({3})}));
  };
  EXPECT_EQ(run(0, 1), (std::vector<float>{0, 15, 30}));
  EXPECT_EQ(run(0.5f, 1), (std::vector<float>{15, 22.5f, 30}));
  EXPECT_EQ(run(1, 0), (std::vector<float>{30, 15, 0}));
  EXPECT_EQ(run(-0.5f, 0.5f), (std::vector<float>{-1, 0, 15}));
}

// (0.5 + 1) / 2 of the way from the first element to the last.
TEST(Resize, PutsASingleOutputInTheMiddleOfARegion) {
  const Tensor x = Tensor::of<float>({4}, {0, 10, 20, 30});
  const Node node = resize("linear", "tf_crop_and_resize", {}, 4);
  EXPECT_EQ(test::floats(test::run_one(node, {x, reals({0.5f, 1}), kNone, i64s({1})})),
            (std::vector<float>{22.5f}));
}

TEST(Resize, KeepsTheAspectOfNamedAxes) {
  const Tensor x = noise({1, 4, 6});
  const auto shape = [&](const char* policy, const std::vector<int64_t>& sizes) {
    const Node node =
        resize("linear", "half_pixel",
               {{"keep_aspect_ratio_policy", word(policy)}, {"axes", list({1, 2})}}, 4);
    return test::run_one(node, {x, kNone, kNone, i64s(sizes)}).shape();
  };
  EXPECT_EQ(shape("stretch", {8, 9}), (Shape{1, 8, 9}));
  EXPECT_EQ(shape("not_larger", {8, 9}), (Shape{1, 6, 9}));    // times 1.5
  EXPECT_EQ(shape("not_smaller", {8, 9}), (Shape{1, 8, 12}));  // times 2
  EXPECT_EQ(shape("not_larger", {5, 100}), (Shape{1, 5, 8}));  // 6 * 1.25 = 7.5 rounds up
}

TEST(Resize, TakesAxesInAnyOrderAndCountedFromTheEnd) {
  const Tensor x = noise({2, 3, 4});
  const Node node = resize("nearest", "asymmetric", {{"axes", list({-1, 0})}});
  EXPECT_EQ(test::run_one(node, {x, kNone, reals({2, 3})}).shape(), (Shape{6, 3, 8}));
}

TEST(Upsample, TakesItsScalesFromTheAttributeOrTheInput) {
  const Tensor x = Tensor::of<float>({1, 2}, {1, 2});
  const Node seven = make_node(
      "Upsample", 1, {{"scales", std::vector<double>{1, 2.5}}, {"mode", word("nearest")}}, 7);
  EXPECT_EQ(test::floats(test::run_one(seven, {x})), (std::vector<float>{1, 1, 1, 2, 2}));
  const Node nine = make_node("Upsample", 2, {{"mode", word("linear")}}, 9);
  EXPECT_EQ(test::floats(test::run_one(nine, {x, reals({1, 2})})),
            (std::vector<float>{1, 1.5f, 2, 2}));
}

// The name that linear had before opset 7.
TEST(Upsample, TakesBilinearAsLinear) {
  const Node node = make_node("Upsample", 2, {{"mode", word("bilinear")}}, 9);
  EXPECT_EQ(test::floats(test::run_one(node, {reals({1, 5}), reals({4})})),
            (std::vector<float>{1, 2, 3, 4, 5, 5, 5, 5}));
}

TEST(Resize, RefusesScalesAndSizesThatMakeNoSense) {
  const Tensor x = noise({1, 4});
  const float inf = std::numeric_limits<float>::infinity();
  const Node node = resize("linear", "half_pixel", {}, 4);
  for (const std::vector<float>& scales : std::vector<std::vector<float>>{
           {1, 0}, {1, -1}, {1, std::nanf("")}, {1, inf}, {1, 1e30f}, {1, 0.1f}, {1}, {1, 1, 1}}) {
    EXPECT_THAT(refusal(node, {x, kNone, reals(scales), i64s({})}), HasSubstr("Resize"));
  }
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {1, 0}, {1, -3}, {1, INT64_MAX}, {1, INT64_MIN}, {}, {1, 2, 3}}) {
    EXPECT_THAT(refusal(node, {x, kNone, kNone, i64s(sizes)}), HasSubstr("Resize"));
  }
  EXPECT_THAT(refusal(node, {noise({0, 4}), kNone, kNone, i64s({1, 4})}), HasSubstr("Resize"));
}

// The tables of such an axis alone would take all memory.
TEST(Resize, RefusesAnAxisBeyondAllBeforeItMakesTables) {
  const Tensor x = noise({1, 4});
  EXPECT_THAT(refusal(resize("linear", "half_pixel"), {x, kNone, reals({1, 2e8f})}),
              HasSubstr("Resize cannot resize an axis from 4 to 800000000"));
  const Node crop = resize("linear", "tf_crop_and_resize");
  for (const float end : {2e8f, 1e30f, std::nanf("")}) {
    EXPECT_THAT(refusal(crop, {x, reals({0, 0, 1, end}), reals({1, 1})}),
                HasSubstr("cannot resize an axis"));
  }
  const Node larger =
      resize("linear", "half_pixel", {{"keep_aspect_ratio_policy", word("not_smaller")}}, 4);
  EXPECT_THAT(refusal(larger, {noise({1, 1000}), kNone, kNone, i64s({1000000, 1})}),
              HasSubstr("cannot resize an axis"));
}

TEST(Resize, RefusesWordsThatItDoesNotKnow) {
  const Tensor x = noise({4});
  const char* const keys[] = {"mode", "coordinate_transformation_mode", "nearest_mode",
                              "keep_aspect_ratio_policy"};
  for (const char* key : keys) {
    Node node = resize("nearest", "asymmetric");
    node.attributes[key] = word("nearer");
    EXPECT_THAT(refusal(node, {x, kNone, reals({2})}), HasSubstr(key));
  }
}

TEST(Resize, GivesTheKernelAMatrixOfWeights) {
  const Node node = resize("linear", "half_pixel");
  const std::vector<Tensor> inputs = {noise({3, 2}), kNone, reals({1, 2})};
  const Lowering lowering = test::lowered(node, inputs, View::kChannelsLast);
  ASSERT_EQ(lowering.calls.size(), 1u) << lowering.reason;
  EXPECT_EQ(lowering.calls[0].op, "gemm");
  const OpCall call = test::make_call(node, inputs, {false, true, true});
  // Places -0.25, 0.25, 0.75, 1.25 of two elements; rows are elements.
  EXPECT_EQ(node.def->constant(call, {"w", 1}),
            (std::vector<double>{1, 0.75, 0.25, 0, 0, 0.25, 0.75, 1}));
  EXPECT_EQ(node.def->constant(call, {"bias", 1}), (std::vector<double>{0, 0, 0, 0}));
}

TEST(Resize, ToTheSameSizeMovesNothing) {
  const Lowering lowering =
      test::lowered(resize("cubic", "half_pixel"), {noise({2, 3}), kNone, reals({1, 1})});
  EXPECT_EQ(lowering.kind, LoweringKind::kAlias);
}

}  // namespace
}  // namespace clvet
