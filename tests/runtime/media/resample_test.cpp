// The resampler beside sounds whose values at every time are known.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/media/resample.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

// `count` samples of a tone of amplitude 0.5, in float64 until the last step.
Tensor tone(double hertz, int64_t rate, int64_t count) {
  Tensor samples = Tensor::create(DType::kF32, {count}).value();
  for (int64_t i = 0; i < count; ++i) {
    const double time = static_cast<double>(i) / static_cast<double>(rate);
    samples.data<float>()[i] =
        static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * time + 0.3));
  }
  return samples;
}

// The largest difference, without `margin` samples at either end, where the sound begins at once.
double difference(const Tensor& a, const Tensor& b, int64_t margin) {
  EXPECT_EQ(a.elements(), b.elements());
  double most = 0;
  for (int64_t i = margin; i < std::min(a.elements(), b.elements()) - margin; ++i)
    most = std::max(most, std::abs(double{a.data<float>()[i]} - b.data<float>()[i]));
  return most;
}

double largest(const Tensor& a, int64_t margin) {
  return difference(a, Tensor::create(DType::kF32, a.shape()).value(), margin);
}

struct Rates {
  int64_t from, to;
};
constexpr Rates kRates[] = {{44100, 16000}, {48000, 16000}, {8000, 16000},  {16000, 8000},
                            {22050, 16000}, {16000, 44100}, {96000, 16000}, {44100, 44101},
                            {11025, 16000}, {192000, 8000}, {16000, 15999}};

// The filter reaches 128 samples of the lower rate to either side.
int64_t margin_of(const Rates& rates) {
  return 160 * std::max<int64_t>(1, rates.to / std::min(rates.from, rates.to)) + 160;
}

// Kaiser's formula gives a window of 12 a ripple of 117.6 dB below the tone: 0.7e-6 for one of 0.5.
// The cubics that stand for a filter between two places of its table add as much again.
constexpr double kRipple = 2e-6;

TEST(Resample, GivesAToneAsItIsAtTheOtherRateWithoutDelay) {
  for (const Rates& rates : kRates) {
    for (const double hertz : {50.0, 440.0, 0.4 * std::min(rates.from, rates.to)}) {
      const int64_t count = rates.from;
      const auto made = resample(tone(hertz, rates.from, count), rates.from, rates.to);
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_LT(difference(*made, tone(hertz, rates.to, rates.to), margin_of(rates)), kRipple)
          << hertz << " Hz, " << rates.from << " to " << rates.to;
    }
  }
}

TEST(Resample, RemovesWhatTheNewRateCannotHold) {
  for (const Rates& rates : kRates) {
    if (rates.to >= rates.from) continue;
    for (const double share : {1.06, 1.3, 1.9}) {
      const double hertz = share * static_cast<double>(rates.to) / 2;
      if (hertz >= static_cast<double>(rates.from) / 2) continue;
      const auto made = resample(tone(hertz, rates.from, rates.from), rates.from, rates.to);
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_LT(largest(*made, margin_of(rates)), kRipple)
          << hertz << " Hz, " << rates.from << " to " << rates.to;
    }
  }
}

TEST(Resample, GivesAsManySamplesAsTheTimeHolds) {
  for (const Rates& rates : kRates) {
    for (const int64_t count : {1, 2, 7, 441, 1000, 65536, 70001}) {
      const auto made = resample(tone(440, rates.from, count), rates.from, rates.to);
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_EQ(made->elements(), (count * rates.to + rates.from - 1) / rates.from);
    }
  }
}

TEST(Resample, KeepsTheLastSamplesOfTheSound) {
  Tensor sound = Tensor::create(DType::kF32, {4800}).value();
  sound.data<float>()[4797] = 1;
  const auto made = resample(sound, 48000, 16000);
  ASSERT_TRUE(made);
  const std::vector<float> values = test::floats(*made);
  EXPECT_EQ(std::max_element(values.begin(), values.end()) - values.begin(), 1599);
}

TEST(Resample, LeavesTheSameRateAlone) {
  const Tensor sound = tone(440, 16000, 100);
  EXPECT_TRUE(bitwise_equal(resample(sound, 16000, 16000).value(), sound));
}

TEST(Resample, RefusesRatesThatAreNone) {
  const Tensor sound = tone(440, 16000, 100);
  for (const Rates& rates : {Rates{16000, 0}, Rates{0, 16000}, Rates{-1, 16000}, Rates{16000, 10},
                             Rates{10, 16000}, Rates{4294967295, 16000}, Rates{16000, 1000001}})
    EXPECT_FALSE(resample(sound, rates.from, rates.to)) << rates.from << " to " << rates.to;
}

}  // namespace
}  // namespace clvet
