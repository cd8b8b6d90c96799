#include "reports/render/run_text.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "base/text.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/run_record.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(TopText, ListsNanBeforeTheLargestValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores = Tensor::of<float>({1, 7}, {1, nan, 5, 2, nan, 9, 3});
  const auto lines = split(top_text({{"y", scores}}, 4), '\n');
  EXPECT_THAT(lines, ElementsAre(HasSubstr("f32[1,7]"), HasSubstr("nan"), HasSubstr("nan"),
                                 HasSubstr("class 5"), HasSubstr("class 2"), ""));
}

TEST(RunText, SaysWhyTheDeviceStaysWhereTheHostWasALittleFaster) {
  RunRecord record;
  record.device = "a GPU";
  const auto text = [&](double device_ms, double host_ms) {
    record.choice = MeasuredTimes{device_ms, host_ms};
    return run_text(record, false);
  };
  const std::string why = "the device stays unless the host needs a fifth less time";
  EXPECT_THAT(text(1.25, 1.14),
              HasSubstr("measured: 1.25 ms on the device, 1.14 ms on the host: " + why));
  EXPECT_THAT(text(1, 2), Not(HasSubstr(why)));
  EXPECT_THAT(text(20, 10), Not(HasSubstr(why))) << "the sum of a part on each";
  record.device = "host";
  EXPECT_THAT(text(2, 1), Not(HasSubstr(why)));
}

TEST(OutputsText, ShowsTypeShapeAndTheFirstValuesOfEachOutput) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::map<std::string, Tensor> outputs{
      {"scores", Tensor::of<float>({2, 4}, {0.333333F, -1.5F, 1e-7F, 123456.7F, 0, 1, 2, 3})},
      {"ids", Tensor::of<int64_t>({2}, {9007199254740993, -1})},
      {"half", Tensor::of<Half>({1}, {Half{0x3C00}})},
      {"bfloat", Tensor::of<Bfloat>({2}, {Bfloat{0x3F81}, Bfloat{0xFF80}})},
      {"odd", Tensor::of<double>({2}, {nan, -1 / 0.0})},
      {"sure", Tensor::scalar(true)},
      {"bytes", Tensor::of<uint8_t>({2}, {65, 255})},
      {"none", Tensor::of<float>({0, 3}, {})}};
  EXPECT_THAT(split(outputs_text(outputs), '\n'),
              ElementsAre("bfloat bf16[2]: 1.0078, -inf", "bytes u8[2]: 65, 255", "half f16[1]: 1",
                          "ids i64[2]: 9007199254740993, -1", "none f32[0,3]: no values",
                          "odd f64[2]: nan, -inf",
                          "scores f32[2,4]: 0.33333, -1.5, 1e-07, 1.2346e+05, 0, 1 ...",
                          "sure bool[]: true", ""));
}

TEST(OutputsText, IsALineAnOutputAndCountsThoseBeyondTwenty) {
  std::map<std::string, Tensor> outputs;
  for (int i = 0; i < 30; ++i) outputs[fmt::format("y\n\x1b{}", i)] = Tensor::scalar(1.0F);
  const auto lines = split(outputs_text(outputs), '\n');
  ASSERT_EQ(lines.size(), 22U);
  EXPECT_EQ(lines[20], "and 10 more outputs");
  EXPECT_EQ(lines[0].find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace clvet
