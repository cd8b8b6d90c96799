#include "runtime/plan/variant_choice.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/kernel_time.h"
#include "runtime/plan/variant_table.h"
#include "tests/runtime/plan/planning.h"

namespace clvet {
namespace {

using ::testing::HasSubstr;

const std::string kTile4 = "gemm_tile4x4/high/normal/buffer/buffer/float";
// What ranks first on a GPU.
const std::string kFirst = "gemm_local64/high/normal/buffer/buffer/float";
const std::string kTile8 = "gemm_tile8x32/high/normal/buffer/buffer/float";

// Eight pixels of one line, 32 channels to 16: x is an image of 64 x 1 texels, w one of 4 x 32.
const Dims kDims = {{"M", 8}, {"N", 16}, {"K", 32}, {"W", 8}, {"act", 0}};
const Scalars kScalars = {{"act_lo", 0}, {"act_hi", 0}};
// 8*32 + 32*16 + 16 + 8*16 floats are 3648 bytes.
const CallWork kOneLaunch = {2.0 * 8 * 16 * 32, 3648, 8 * 16};

class VariantChoice : public testing::Test {
 protected:
  void trust(const std::string& variant, std::vector<TimedLaunch> timed = {}) {
    evidence_.variants[key(variant)] = {3, 0, Verdict::kMissing, std::move(timed)};
  }
  void distrust(const std::string& variant, Verdict verdict, int passed = 0,
                std::vector<TimedLaunch> timed = {}) {
    evidence_.variants[key(variant)] = {passed, 1, verdict, std::move(timed)};
  }
  static std::string key(const std::string& variant) {
    const std::string key = variant_key_of(variant);
    EXPECT_FALSE(key.empty()) << variant;
    return key;
  }

  std::optional<ChosenVariant> choose(const Combination& combination, const Dims& dims = kDims,
                                      WeightType type = WeightType::kFloat) {
    const VariantChooser chooser(test::table(), evidence_, features_);
    auto chosen = chooser.choose({op_, dims, kScalars, combination, type});
    return keep_reason(std::move(chosen));
  }
  // "": none.
  std::string name(const Combination& combination, const Dims& dims = kDims,
                   WeightType type = WeightType::kFloat) {
    const auto chosen = choose(combination, dims, type);
    return chosen ? chosen->row->name : "";
  }
  std::string refusal(const std::string& variant, const Dims& dims = kDims,
                      WeightType type = WeightType::kFloat) {
    const VariantChooser chooser(test::table(), evidence_, features_);
    const WantedCall wanted{op_, dims, kScalars, test::kBuffers, type};
    const auto chosen = keep_reason(chooser.choose_named(wanted, variant));
    EXPECT_TRUE(!chosen || chosen->row->name == variant);
    return reason_;
  }

  std::optional<ChosenVariant> keep_reason(Result<ChosenVariant> chosen) {
    reason_ = chosen ? "" : chosen.error().message;
    code_ = chosen ? std::nullopt : std::optional(chosen.error().code);
    return chosen ? std::optional(std::move(*chosen)) : std::nullopt;
  }

  std::string op_ = "gemm";
  DeviceEvidence evidence_;
  DeviceFeatures features_ = {
      .device_class = "gpu", .fp16 = true, .images = true, .image_width = 64, .image_height = 64};
  std::string reason_;
  std::optional<ErrorCode> code_;  // of the reason
};

TEST_F(VariantChoice, NeverTakesAVariantThatIsNotRight) {
  for (const Verdict verdict : {Verdict::kWrong, Verdict::kNondeterministic, Verdict::kBuildError,
                                Verdict::kCrash, Verdict::kHang, Verdict::kUnsupported,
                                Verdict::kLie, Verdict::kInterrupted, Verdict::kMissing}) {
    for (const int passed : {0, 7}) {
      trust(kTile8, {{{0, 1e3}, 100}});
      distrust(kTile4, verdict, passed, {{{0, 1e3}, 1}});
      EXPECT_EQ(name(test::kBuffers), kTile8) << to_string(verdict);
    }
  }
}

TEST_F(VariantChoice, NeverTakesAVariantThatTheReportDoesNotHold) {
  trust(kTile8);
  EXPECT_EQ(name(test::kBuffers), kTile8);
  evidence_.variants.clear();
  EXPECT_EQ(name(test::kBuffers), "");
  EXPECT_EQ(reason_, "the verdict of kernel " + kFirst + " is missing");
  EXPECT_EQ(code_, ErrorCode::kUntested);
  evidence_.variants[key(kTile4)] = {};
  EXPECT_EQ(name(test::kBuffers), "");
}

TEST_F(VariantChoice, TellsWhichVariantWasWantedAndWhatIsWrongWithIt) {
  distrust(kFirst, Verdict::kCrash);
  distrust(kTile8, Verdict::kWrong);
  EXPECT_EQ(name(test::kBuffers), "");
  EXPECT_EQ(reason_, "the verdict of kernel " + kFirst + " is crash");
  features_.device_class = "cpu";
  EXPECT_EQ(name(test::kBuffers), "");
  EXPECT_EQ(reason_, "the verdict of kernel " + kTile8 + " is wrong");
  EXPECT_EQ(code_, ErrorCode::kDeviceError);
  distrust(kTile8, Verdict::kUnsupported);
  EXPECT_EQ(name(test::kBuffers), "");
  EXPECT_EQ(code_, ErrorCode::kUnsupported);
}

TEST_F(VariantChoice, RepeatsWhyAVariantWasNotTried) {
  distrust(kTile8, Verdict::kCrash);
  distrust(kFirst, Verdict::kNotTried);
  evidence_.variants[key(kFirst)].why = "not tried: 8 kernels with half_arithmetic ended alike";
  EXPECT_EQ(name(test::kBuffers), "");
  EXPECT_EQ(reason_,
            "kernel " + kFirst + ": not tried: 8 kernels with half_arithmetic ended alike");
  EXPECT_EQ(code_, ErrorCode::kDeviceError);
}

TEST_F(VariantChoice, TakesTheOneThatIsFasterAtTheSizeOfThisCall) {
  trust(kTile4, {{{0, 1e3}, 1}, {{0, 1e6}, 10}});
  trust(kTile8, {{{0, 1e3}, 2}, {{0, 1e6}, 5}});
  EXPECT_EQ(name(test::kBuffers), kTile4);
  Dims large = kDims;
  large["M"] = 8000;
  EXPECT_EQ(name(test::kBuffers, large), kTile8);
  EXPECT_LT(choose(test::kBuffers)->ms, choose(test::kBuffers, large)->ms);
}

TEST_F(VariantChoice, TakesTheOneWithItsLaunchThatIsFasterAmongOthers) {
  trust(kTile4, {{kOneLaunch, 1, 4}});
  trust(kTile8, {{kOneLaunch, 1.2, 2.5}});
  EXPECT_EQ(name(test::kBuffers), kTile8);
}

TEST_F(VariantChoice, PredictsByTheWorkOfTheCall) {
  // One launch alone is as long as it was.
  trust(kTile4, {{kOneLaunch, 5}});
  EXPECT_NEAR(choose(test::kBuffers)->ms, 5, 0.05);
  trust(kTile4, {{{2.0 * 8 * 16 * 32 * 4, 3648 * 4, 8 * 16}, 5}});
  EXPECT_LT(choose(test::kBuffers)->ms, 4);
}

TEST_F(VariantChoice, TakesWhatWasNotTimedAfterWhatWas) {
  trust(kTile4);
  trust(kTile8, {{{0, 1e3}, 1e6}});
  EXPECT_EQ(name(test::kBuffers), kTile8);
  trust(kTile4, {{{0, 1e3}, 1e6}});
  trust(kTile8);
  EXPECT_EQ(name(test::kBuffers), kTile4);
}

TEST_F(VariantChoice, LetsTheRankForTheClassOfTheDeviceDecideWhereTimesDoNot) {
  for (const std::vector<TimedLaunch>& timed :
       {std::vector<TimedLaunch>{}, std::vector<TimedLaunch>{{{0, 1e3}, 3}}}) {
    trust(kTile4, timed);
    trust(kTile8, timed);
    features_.device_class = "gpu";
    EXPECT_EQ(name(test::kBuffers), kTile4);
    features_.device_class = "cpu";
    EXPECT_EQ(name(test::kBuffers), kTile8);
    features_.device_class = "toaster";
    EXPECT_EQ(name(test::kBuffers), kTile4) << "the first of the catalog";
  }
}

TEST_F(VariantChoice, LetsTheRankDecideBetweenTimesThatAGpusLaunchesHide) {
  PeaksReport peaks;
  peaks.launch_us = 10;
  for (const bool in_turn : {false, true}) {
    evidence_.cost = CostModel(peaks, in_turn, 0);
    trust(kTile8, {{kOneLaunch, 0.015}});
    trust(kTile4, {{kOneLaunch, 0.0155}});
    EXPECT_EQ(name(test::kBuffers), in_turn ? kTile8 : kTile4);
    trust(kTile4, {{kOneLaunch, 0.0175}});
    EXPECT_EQ(name(test::kBuffers), kTile8);
    trust(kTile8, {{kOneLaunch, 0.115}});
    trust(kTile4, {{kOneLaunch, 0.1155}});
    EXPECT_EQ(name(test::kBuffers), kTile8) << "long kernels are measured well enough";
  }
}

// Arguments of one that cost 5 us more: beside kernels of 4 us they count, beside 100 us not.
TEST_F(VariantChoice, CountsNoLaunchThatALongKernelHides) {
  PeaksReport peaks;
  peaks.launch_us = 10;
  peaks.piped_launch_us = 4;
  evidence_.cost = CostModel(peaks, false, 0);
  for (const double kernel_ms : {0.004, 0.1}) {
    const double waited_ms = 0.01 + kernel_ms;
    trust(kTile8, {{kOneLaunch, 0.9 * kernel_ms + 0.01, 0}, {{0, 1e3}, 0.011, 0.009}});
    trust(kTile4, {{kOneLaunch, waited_ms, 0}, {{0, 1e3}, 0.011, 0.004}});
    EXPECT_EQ(name(test::kBuffers), kernel_ms < 0.01 ? kTile4 : kTile8);
  }
}

TEST_F(VariantChoice, LetsTheRankDecideBetweenWhatAGpusMemoryBounds) {
  PeaksReport peaks;
  peaks.launch_us = 10;
  for (const double gbs : {1e-4, 1e4}) {
    peaks.bandwidth_gbs = gbs;
    evidence_.cost = CostModel(peaks, false, 0);
    trust(kTile8, {{kOneLaunch, 0.115}});
    trust(kTile4, {{kOneLaunch, 0.1155}});
    EXPECT_EQ(name(test::kBuffers), gbs < 1 ? kTile4 : kTile8);
  }
}

TEST_F(VariantChoice, TakesTheStoragesThatWereAskedFor) {
  for (const char* storages : {"buffer/buffer", "buffer/image", "image/buffer", "image/image"}) {
    trust(fmt::format("gemm_tile4x4/high/normal/{}/float", storages), {{{0, 1e3}, 1}});
  }
  for (const Storage activations : {Storage::kBuffer, Storage::kImage}) {
    for (const Storage weights : {Storage::kBuffer, Storage::kImage}) {
      const auto chosen = choose({Precision::kHigh, Memory::kNormal, activations, weights});
      ASSERT_TRUE(chosen);
      EXPECT_EQ(chosen->variant().activations, activations);
      EXPECT_EQ(chosen->variant().weights, weights);
      EXPECT_EQ(chosen->instead_of, "");
    }
  }
}

// Of a call that wants images, the variants that are tried one after the other.
TEST_F(VariantChoice, FallsToBuffersOneStorageAtATimeAndTellsWhy) {
  const std::vector<std::string> order = {"image/image", "image/buffer", "buffer/image",
                                          "buffer/buffer"};
  const auto variant = [](const std::string& storages) {
    return fmt::format("gemm_tile4x4/high/normal/{}/float", storages);
  };
  for (const std::string& storages : order) trust(variant(storages));
  for (size_t i = 0; i < order.size(); ++i) {
    const auto chosen = choose(test::kImages);
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->row->name, variant(order[i]));
    EXPECT_EQ(chosen->instead_of, i == 0 ? "" : variant(order[0]));
    EXPECT_EQ(chosen->verdict, i == 0 ? Verdict::kPass : Verdict::kWrong);
    distrust(variant(order[i]), i == 0 ? Verdict::kWrong : Verdict::kCrash);
  }
}

TEST_F(VariantChoice, FallsToTheNextHigherPrecisionOnceNoStorageIsLeft) {
  const Combination low = {Precision::kLow, Memory::kNormal, Storage::kImage, Storage::kBuffer};
  const std::string at_low = "gemm_tile4x4/low/normal/buffer/buffer/float",
                    at_normal = "gemm_tile4x4/normal/normal/image/buffer/float";
  for (const std::string& variant : {at_low, at_normal, kTile4}) trust(variant, {{{0, 1e3}, 9}});
  EXPECT_EQ(name(low), at_low);
  distrust(at_low, Verdict::kWrong);
  EXPECT_EQ(name(low), at_normal);
  distrust(at_normal, Verdict::kWrong);
  EXPECT_EQ(name(low), kTile4);
  Combination normal = low;
  normal.precision = Precision::kNormal;
  EXPECT_EQ(name(normal), kTile4);
  trust(at_low);
  EXPECT_EQ(name(normal), kTile4) << "never a lower one";
}

TEST_F(VariantChoice, NeverPlansAnActivationLargerThanTheDevicesImages) {
  const std::string image = "gemm_tile4x4/high/normal/image/buffer/float";
  trust(image);
  trust(kTile4);
  const Combination wanted = {Precision::kHigh, Memory::kNormal, Storage::kImage, Storage::kBuffer};
  EXPECT_EQ(name(wanted), image) << "just fits";
  features_.image_width = 63;
  EXPECT_EQ(name(wanted), kTile4);
  features_.image_width = 64;
  Dims tall = kDims;
  tall["M"] = 8 * 64;
  EXPECT_EQ(name(wanted, tall), image);
  tall["M"] = 8 * 65;
  EXPECT_EQ(name(wanted, tall), kTile4);
}

TEST_F(VariantChoice, BlamesNoVariantThatDoesNotTakeTheCall) {
  const std::string image = "gemm_tile4x4/high/normal/image/buffer/float";
  distrust(image, Verdict::kCrash);
  trust(kTile4);
  const Combination wanted = {Precision::kHigh, Memory::kNormal, Storage::kImage, Storage::kBuffer};
  auto chosen = choose(wanted);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->instead_of, image);
  features_.image_width = 63;
  chosen = choose(wanted);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->instead_of, "");
}

TEST_F(VariantChoice, NeverPlansWeightsLargerThanTheDevicesImages) {
  const std::string image = "gemm_tile4x4/high/normal/buffer/image/float";
  trust(image);
  trust(kTile4);
  const Combination wanted = {Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kImage};
  features_.image_width = 4;
  features_.image_height = 32;
  EXPECT_EQ(name(wanted), image) << "just fits";
  features_.image_width = 3;
  EXPECT_EQ(name(wanted), kTile4);
  features_.image_width = 4;
  features_.image_height = 31;
  EXPECT_EQ(name(wanted), kTile4);
}

TEST_F(VariantChoice, TakesTheTypeOfWeightsThatTheCallHas) {
  const std::string int8 = "gemm_tile4x4/high/low/buffer/buffer/int8",
                    int4 = "gemm_tile4x4/high/low/buffer/buffer/int4";
  for (const std::string& variant : {int8, int4, kTile4}) trust(variant);
  EXPECT_EQ(name(test::kBuffers, kDims, WeightType::kInt8), int8);
  EXPECT_EQ(name(test::kBuffers, kDims, WeightType::kInt4), int4);
  EXPECT_EQ(name(test::kBuffers), kTile4);
}

TEST_F(VariantChoice, NamesWhatNoKernelTakes) {
  op_ = "fly";
  EXPECT_FALSE(choose(test::kBuffers));
  EXPECT_EQ(reason_, "there is no kernel for fly");
  op_ = "gemm";
  EXPECT_FALSE(choose(test::kBuffers, {{"M", 1}}));
  EXPECT_THAT(reason_, HasSubstr("gemm: dim"));
  // The rows of images alone, where there are none.
  op_ = "copy_buffer_image";
  features_.image_width = 0;
  EXPECT_FALSE(choose({Precision::kHigh, Memory::kNormal, Storage::kImage, std::nullopt},
                      {{"N", 1}, {"H", 1}, {"W", 1}, {"C", 1}}));
  EXPECT_EQ(reason_, "no kernel variant supports its shapes and attributes");
}

TEST_F(VariantChoice, TakesANamedVariantOnlyWhereItIsTrustedAndFits) {
  trust(kTile4);
  distrust(kTile8, Verdict::kCrash);
  EXPECT_EQ(refusal(kTile4), "");
  EXPECT_EQ(refusal(kTile8),
            "the report does not show that kernel " + kTile8 + " is correct: its verdict is crash");
  EXPECT_THAT(refusal("gemm_tile4x4/low/normal/buffer/buffer/float"),
              HasSubstr("its verdict is missing"));
  EXPECT_EQ(refusal("gemm_best"), "there is no kernel variant 'gemm_best' for gemm");
  const std::string relu = "eltwise_unary_texel/high/-/buffer/-/-";
  trust(relu);
  EXPECT_THAT(refusal(relu), HasSubstr("there is no kernel variant"));
  EXPECT_EQ(refusal(kTile4, {{"M", 1}}), "kernel " + kTile4 + " does not support this call");
  const std::string image = "gemm_tile4x4/high/normal/image/buffer/float";
  trust(image);
  EXPECT_EQ(refusal(image), "");
  features_.image_width = 63;
  EXPECT_EQ(refusal(image), "kernel " + image + " does not support this call");
}

TEST_F(VariantChoice, TakesANamedVariantOnlyForItsOwnTypeOfWeights) {
  const std::string int8 = "gemm_tile4x4/high/low/buffer/buffer/int8";
  trust(int8);
  trust(kTile4);
  EXPECT_EQ(refusal(int8, kDims, WeightType::kInt8), "");
  EXPECT_EQ(refusal(int8), "kernel " + int8 + " does not support this call");
  EXPECT_EQ(refusal(kTile4, kDims, WeightType::kInt4),
            "kernel " + kTile4 + " does not support this call");
}

// What `clvet tune` found of the call that the tests choose a kernel for.
class TunedChoice : public VariantChoice {
 protected:
  TunedChoice() {
    trust(kTile4, {{{0, 1e3}, 2}});
    trust(kTile8, {{{0, 1e3}, 1}});
  }
  void tuned(const std::string& variant, double ms, double spread = 0, int rounds = 9,
             Verdict verdict = Verdict::kPass, bool checked_here = true) {
    const TableRow* row = test::table()->find(variant);
    const std::string call = name_of_call("gemm", kDims, kScalars, row->variant);
    evidence_.tuned[call][key(variant)] = {variant, key(variant), verdict,     ms,
                                           spread,  rounds,       checked_here};
  }
};

TEST_F(TunedChoice, TakesWhatWasMeasuredToBeFasterThanThePredictedOne) {
  EXPECT_EQ(name(test::kBuffers), kTile8);
  tuned(kTile4, 5);
  EXPECT_EQ(name(test::kBuffers), kTile8) << "the other one was not measured";
  tuned(kTile8, 10);
  EXPECT_EQ(name(test::kBuffers), kTile4);
  Dims others = kDims;
  others["N"] = 20;
  EXPECT_EQ(name(test::kBuffers, others), kTile8) << "another call";
}

TEST_F(TunedChoice, PredictsTheRatioOfTheMeasuredTimes) {
  const auto untuned = choose(test::kBuffers);
  tuned(kTile4, 5);
  tuned(kTile8, 10);
  const auto chosen = choose(test::kBuffers);
  EXPECT_NEAR(chosen->ms + chosen->launch_ms, (untuned->ms + untuned->launch_ms) / 2, 1e-9);
}

TEST_F(TunedChoice, StaysWithThePredictedOneWhereTheGainIsNoise) {
  for (const auto& [ms, spread] :
       {std::pair(9.95, 0.0), std::pair(9.0, 3.0), std::pair(11.0, 0.0)}) {
    tuned(kTile4, ms, spread);
    tuned(kTile8, 10, spread);
    EXPECT_EQ(name(test::kBuffers), kTile8) << ms << " " << spread;
  }
}

TEST_F(TunedChoice, TakesAGainOfAMicrosecondOnAGpuAndNotOnAProcessor) {
  tuned(kTile4, 0.008);
  tuned(kTile8, 0.009);
  features_.device_class = "gpu";
  EXPECT_EQ(name(test::kBuffers), kTile4);
  features_.device_class = "cpu";
  EXPECT_EQ(name(test::kBuffers), kTile8);
}

TEST_F(TunedChoice, NeverTakesWhatWasWrongAtThisCall) {
  tuned(kTile8, 1, 0, 9, Verdict::kWrong);
  EXPECT_EQ(name(test::kBuffers), kTile4);
  EXPECT_EQ(refusal(kTile8),
            "the report does not show that kernel " + kTile8 + " is correct: its verdict is wrong");
  tuned(kTile4, 1, 0, 9, Verdict::kCrash);
  EXPECT_EQ(name(test::kBuffers), "");
}

TEST_F(TunedChoice, TakesAKernelThatTheProbeDidNotTryOnlyWhereItsNumbersWereCheckedHere) {
  tuned(kFirst, 1, 0, 9, Verdict::kPass, false);
  tuned(kTile8, 10);
  EXPECT_EQ(name(test::kBuffers), kTile8);
  tuned(kFirst, 1);
  EXPECT_EQ(name(test::kBuffers), kFirst);
  EXPECT_EQ(refusal(kFirst), "");
  distrust(kFirst, Verdict::kWrong);
  EXPECT_EQ(name(test::kBuffers), kTile8) << "a trial of it failed";
}

TEST_F(TunedChoice, KnowsRivalsThatWereNotTriedAndNoneThatFailed) {
  const VariantChooser chooser(test::table(), evidence_, features_);
  const auto rivals = [&] {
    const VariantChooser now(test::table(), evidence_, features_);
    std::vector<std::string> names;
    for (const TableRow* row :
         now.rivals_of({op_, kDims, kScalars, test::kBuffers}, *test::table()->find(kTile8)))
      names.push_back(row->name);
    return names;
  };
  EXPECT_EQ(rivals().front(), kTile8);
  EXPECT_THAT(rivals(), testing::IsSupersetOf({kTile4, kFirst}));
  distrust(kTile4, Verdict::kWrong);
  tuned(kFirst, 0, 0, 0, Verdict::kHang);
  EXPECT_THAT(rivals(),
              testing::Not(testing::AnyOf(testing::Contains(kTile4), testing::Contains(kFirst))));
}

}  // namespace
}  // namespace clvet
