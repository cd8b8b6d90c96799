// Pad against the index each mode reads.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

Node pad_node(const char* mode, size_t inputs = 2) {
  return make_node("Pad", inputs, {{"mode", word(mode)}}, 19);
}

// Walks from the edge as the mode says: reflect turns round at both ends without repeating them.
int64_t walked(const std::string& mode, int64_t at, int64_t n) {
  if (mode == "edge") return std::clamp<int64_t>(at, 0, n - 1);
  if (mode == "wrap") {
    while (at < 0) at += n;
    while (at >= n) at -= n;
  } else if (mode == "reflect") {
    while (n > 1 && (at < 0 || at >= n)) at = at < 0 ? -at : 2 * (n - 1) - at;
    if (n == 1) at = 0;
  }
  return at;
}

TEST(Pad, ReadsTheIndexThatEachModeSays) {
  const std::vector<std::vector<int64_t>> lists = {{0, 2, 1, 0, 0, 3},
                                                   {1, 0, 0, 0, 0, 2},
                                                   {7, 9, 11, 5, 3, 1},
                                                   {0, -1, 2, 0, 0, -2},
                                                   {-1, 1, 0, 0, -1, 0}};
  const Tensor x = noise({2, 3, 4}, 17);
  const Grid grid(x);
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const auto& pads : lists) {
      Shape out = x.shape();
      for (size_t i = 0; i < 3; ++i) out[i] += pads[i] + pads[i + 3];
      const Grid want(out, [&](Index at) {
        for (size_t i = 0; i < 3; ++i) at[i] = walked(mode, at[i] - pads[i], x.shape()[i]);
        return grid.at(at, 7);
      });
      SCOPED_TRACE(mode + ::testing::PrintToString(pads));
      const Tensor seven = Tensor::scalar(7.f);
      test::expect_grid(test::run_one(pad_node(mode, 3), {x, i64s(pads), seven}), want, 0);
    }
  }
}

TEST(Pad, ReflectsASingleElementAsItself) {
  const Tensor x = Tensor::of<int32_t>({1}, {4});
  for (const char* mode : {"edge", "reflect", "wrap"}) {
    EXPECT_EQ(test::run_one(pad_node(mode), {x, i64s({2, 1})}).to_i64(),
              (std::vector<int64_t>{4, 4, 4, 4}));
  }
}

TEST(Pad, FillsAnEmptyTensorWithTheConstantAlone) {
  const Tensor y =
      test::run_one(pad_node("constant", 3), {noise({0}), i64s({1, 2}), Tensor::scalar(5.f)});
  EXPECT_EQ(test::floats(y), (std::vector<float>{5, 5, 5}));
  for (const char* mode : {"edge", "reflect", "wrap"}) {
    EXPECT_THAT(refusal(pad_node(mode), {noise({0}), i64s({1, 2})}),
                HasSubstr("Pad cannot extend [0]"));
    EXPECT_EQ(test::run_one(pad_node(mode), {noise({0, 2}), i64s({0, 0, 0, 0})}).shape(),
              (Shape{0, 2}));
  }
}

TEST(Pad, PadsTheNamedAxesAlone) {
  const Tensor x = Tensor::of<int64_t>({1, 2}, {1, 2}), value = Tensor::scalar<int64_t>(-9);
  const Tensor y = test::run_one(pad_node("constant", 4), {x, i64s({1, 0}), value, i64s({-1})});
  EXPECT_EQ(y.shape(), (Shape{1, 3}));
  EXPECT_EQ(y.to_i64(), (std::vector<int64_t>{-9, 1, 2}));
}

TEST(Pad, TakesTheAttributesOfOldModelsForEveryFloatType) {
  const Node node = make_node("Pad", 1, {{"pads", list({1, 1})}, {"value", 1.5}}, 2);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64}) {
    const Tensor x = Tensor::of<float>({1}, {4}).cast(dtype).value();
    EXPECT_EQ(test::run_one(node, {x}).to_f64(), (std::vector<double>{1.5, 4, 1.5}))
        << to_string(dtype);
  }
}

TEST(Pad, MovesEveryElementSize) {
  for (const DType dtype : {DType::kBool, DType::kF16, DType::kBF16, DType::kU32, DType::kF64}) {
    const Tensor x = Tensor::of<float>({2}, {1, 0}).cast(dtype).value();
    const Tensor one = Tensor::scalar(1.f).cast(dtype).value();
    EXPECT_EQ(test::run_one(pad_node("constant", 3), {x, i64s({1, 1}), one}).to_f64(),
              (std::vector<double>{1, 1, 0, 1}));
  }
}

TEST(Pad, RefusesPadsThatMakeNoSense) {
  const Tensor x = noise({2, 3});
  const struct {
    std::vector<int64_t> pads;
    const char* part;
  } faults[] = {
      {{1, 1}, "has 2 pads for 2 axes"},
      {{}, "has 0 pads for 2 axes"},
      {{-3, 0, 0, 0}, "-3 and 0 on axis 0"},
      {{0, -2, 0, -2}, "-2 and -2 on axis 1"},
      {{INT64_MAX, 0, INT64_MAX, 0}, "on axis 0"},
      {{INT64_MIN, 0, INT64_MIN, 0}, "on axis 0"},
      {{INT64_MIN, 0, INT64_MAX, 0}, "on axis 0"},
      {{0, INT64_MAX, 0, INT64_MIN}, "on axis 1"},
      {{int64_t{1} << 40, int64_t{1} << 40, 0, 0}, "too many elements"},
  };
  for (const auto& fault : faults) {
    EXPECT_THAT(refusal(pad_node("constant"), {x, i64s(fault.pads)}), HasSubstr(fault.part));
  }
  EXPECT_THAT(refusal(pad_node("constant", 4), {x, i64s({1, 0}), noise({1}), i64s({2})}),
              HasSubstr("axis 2"));
  EXPECT_THAT(refusal(pad_node("constant", 3), {x, i64s({1, 0, 0, 0}), i64s({1})}),
              HasSubstr("f32 and i64"));
}

TEST(Pad, RefusesAModeThatItDoesNotKnow) {
  EXPECT_THAT(refusal(pad_node("symmetric"), {noise({2}), i64s({1, 1})}), HasSubstr("symmetric"));
}

TEST(Pad, LowersWithAnExtentAndAPadForEachAxis) {
  const Lowering lowering = test::lowered(
      pad_node("wrap", 3), {noise({2, 3, 4}), i64s({0, 1, 0, 0, 2, -1}), Tensor::scalar(7.f)});
  ASSERT_EQ(lowering.calls.size(), 1u) << lowering.reason;
  const auto& dims = lowering.calls[0].dims;
  std::vector<int64_t> extents;
  // Channels first: axis 1 is C, axis 2 W, axis 0 H.
  for (const char* name : {"C", "W", "OC", "OW", "P_C", "P_W", "mode"})
    extents.push_back(dims.at(name));
  EXPECT_THAT(extents, ElementsAre(3, 4, 6, 3, 1, 0, 3));
  EXPECT_EQ(lowering.calls[0].scalars.at("value"), 7);
}

}  // namespace
}  // namespace clvet
