#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"

namespace clvet {
namespace {

using testing::Each;

Values ramp(int64_t count, double scale) {
  Values values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = scale * (static_cast<double>(i * 37 % 101) - 50);
  }
  return values;
}

float float_at(const Bytes& bytes, int64_t index) {
  float value = 0;
  std::memcpy(&value, bytes.data() + index * 4, 4);
  return value;
}

uint16_t word_at(const Bytes& bytes, int64_t index) {
  uint16_t value = 0;
  std::memcpy(&value, bytes.data() + index * 2, 2);
  return value;
}

TensorRole activation(int64_t n, int64_t h, int64_t w, int64_t c) {
  return {.name = "x", .kind = TensorKind::kInput, .n = n, .h = h, .w = w, .c = c};
}

TensorRole matrix(int64_t taps, int64_t cin, int64_t cout, bool pad_cin = true) {
  return {.name = "w",
          .kind = TensorKind::kWeights,
          .taps = taps,
          .cin = cin,
          .cout = cout,
          .pad_cin = pad_cin};
}

TEST(Half, RoundsToTheNearestValueOfTheFormat) {
  EXPECT_EQ(double_to_half(1.0), 0x3c00);
  EXPECT_EQ(double_to_half(-0.0), 0x8000);
  EXPECT_EQ(double_to_half(2049), 0x6800) << "a tie goes to the even neighbour";
  EXPECT_EQ(double_to_half(2051), 0x6802);
  EXPECT_EQ(double_to_half(65504), 0x7bff);
  EXPECT_EQ(double_to_half(65520), 0x7c00);
  EXPECT_EQ(double_to_half(std::ldexp(1, -24)), 1);
  EXPECT_EQ(double_to_half(std::ldexp(1, -25)), 0);
}

TEST(Half, KeepsEveryValueThroughFloatAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(float_to_half(value), bits);
  }
}

TEST(Activation, LiesAsPaddedChannelsLast) {
  const TensorRole role = activation(2, 3, 5, 6);
  const Values values = ramp(role.elements(), 0.25);
  const Bytes bytes = encode_activation(role, Precision::kHigh, values);
  ASSERT_EQ(bytes.size(), 2u * 3 * 5 * 8 * 4);
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t h = 0; h < 3; ++h) {
      for (int64_t w = 0; w < 5; ++w) {
        for (int64_t c = 0; c < 8; ++c) {
          const double want =
              c < 6 ? values[static_cast<size_t>(((n * 3 + h) * 5 + w) * 6 + c)] : 0;
          ASSERT_EQ(float_at(bytes, (n * 3 + h) * 40 + w * 8 + c), want);
        }
      }
    }
  }
  const ImageExtent extent = activation_extent(role);
  EXPECT_EQ(extent.width, 10);
  EXPECT_EQ(extent.height, 6);
}

TEST(Activation, ComesBackAsItWentIn) {
  for (const Precision precision : {Precision::kLow, Precision::kNormal, Precision::kHigh}) {
    const TensorRole role = activation(2, 2, 3, 7);
    const Values values = ramp(role.elements(), 0.125);
    Bytes bytes = encode_activation(role, precision, values);
    ASSERT_EQ(bytes.size(), activation_bytes(role, precision));
    bool clean = false;
    EXPECT_EQ(decode_activation(role, precision, bytes, &clean), values);
    EXPECT_TRUE(clean);
    bytes.back() = std::byte{0x3c};
    decode_activation(role, precision, bytes, &clean);
    EXPECT_FALSE(clean) << "a padding lane that is not zero is noticed";
  }
}

TEST(Activation, OfFloatsIsTheSameAsThatOfDoubles) {
  for (const int64_t channels : {3, 5, 8, 11}) {
    for (const Precision precision : {Precision::kNormal, Precision::kHigh}) {
      const TensorRole role = activation(2, 2, 5, channels);
      const Values values = ramp(role.elements(), 0.5);
      const std::vector<float> floats(values.begin(), values.end());
      Bytes bytes(activation_bytes(role, precision), std::byte{0xff});
      encode_activation_f32(role, precision, floats, bytes);
      EXPECT_EQ(bytes, encode_activation(role, precision, values));
      std::vector<float> back(floats.size());
      decode_activation_f32(role, precision, bytes, back);
      EXPECT_EQ(back, floats);
    }
  }
}

TEST(Activation, OfPlanesIsTheSameAsThatOfPixels) {
  for (const int64_t channels : {1, 3, 8, 10}) {
    for (const Precision precision : {Precision::kNormal, Precision::kHigh}) {
      const TensorRole role = activation(2, 9, 15, channels);
      const Values values = ramp(role.elements(), 0.5);
      const int64_t pixels = role.h * role.w;
      std::vector<float> planes(values.size());
      for (int64_t i = 0; i < role.elements(); ++i) {
        const int64_t c = i % channels, p = i / channels % pixels, n = i / channels / pixels;
        planes[static_cast<size_t>((n * channels + c) * pixels + p)] =
            static_cast<float>(values[static_cast<size_t>(i)]);
      }
      Bytes bytes(activation_bytes(role, precision), std::byte{0xff});
      encode_planes_f32(role, precision, planes, bytes);
      EXPECT_EQ(bytes, encode_activation(role, precision, values));
      std::vector<float> back(planes.size());
      decode_planes_f32(role, precision, bytes, back);
      EXPECT_EQ(back, planes);
    }
  }
}

TEST(FloatWeights, LieInPanelsOfColumns) {
  const TensorRole role = matrix(2, 3, 35);
  const Values values = ramp(role.elements(), 0.5);
  for (const int64_t pack : {0, 16, 32}) {
    const PackedWeights packed =
        pack_weights(role, Precision::kHigh, WeightType::kFloat, Storage::kBuffer, pack, values);
    const int64_t width = pack == 0 ? 48 : pack;
    EXPECT_EQ(weight_rows(role), 8);
    EXPECT_EQ(weight_columns(role), 48);
    ASSERT_EQ(packed.data.size(), static_cast<size_t>((48 + width - 1) / width * width * 8 * 4));
    for (int64_t k = 0; k < 8; ++k) {
      for (int64_t o = 0; o < 48; ++o) {
        const bool real = k % 4 < 3 && o < 35;
        const double want = real ? values[static_cast<size_t>((k / 4 * 3 + k % 4) * 35 + o)] : 0;
        ASSERT_EQ(float_at(packed.data, (o / width * 8 + k) * width + o % width), want);
      }
    }
  }
}

TEST(FloatWeights, OfDepthwiseFiltersHaveOneRowATap) {
  const TensorRole role = matrix(9, 1, 20, false);
  const Values values = ramp(role.elements(), 1);
  const PackedWeights packed =
      pack_weights(role, Precision::kNormal, WeightType::kFloat, Storage::kImage, 16, values);
  EXPECT_EQ(weight_rows(role), 12);
  EXPECT_EQ(packed.image.width, 8);
  EXPECT_EQ(packed.image.height, 12);
  EXPECT_EQ(half_to_float(word_at(packed.data, 7 * 32 + 11)), values[7 * 20 + 11]);
  EXPECT_EQ(word_at(packed.data, 9 * 32), 0);
}

struct QuantCase {
  WeightType type;
  int bits;
  Precision precision;
};

class QuantisedWeights : public testing::TestWithParam<QuantCase> {};

TEST_P(QuantisedWeights, GiveBackTheEffectiveValuesByTheDocumentedFormula) {
  const auto [type, bits, precision] = GetParam();
  const TensorRole role = matrix(1, 70, 18);
  const Values values = ramp(role.elements(), 0.01);
  const Values effective = effective_weights(role, precision, type, values);
  const PackedWeights packed = pack_weights(role, precision, type, Storage::kBuffer, 16, values);
  const int64_t per_word = 16 / bits, words = 72 / per_word;
  ASSERT_EQ(packed.data.size(), static_cast<size_t>(32 * words * 2));
  ASSERT_EQ(packed.scales.size(), 3u * 2 * 32 * (stores_half(precision) ? 2 : 4));
  const auto scale_at = [&](int64_t index) {
    return stores_half(precision) ? half_to_float(word_at(packed.scales, index))
                                  : float_at(packed.scales, index);
  };
  for (int64_t k = 0; k < 70; ++k) {
    for (int64_t o = 0; o < 18; ++o) {
      const uint16_t word = word_at(packed.data, (o / 16 * words + k / per_word) * 16 + o % 16);
      const int q = word >> (k % per_word * bits) & ((1 << bits) - 1);
      const double scale = scale_at(k / 32 * 64 + o), offset = scale_at(k / 32 * 64 + 32 + o);
      const auto at = static_cast<size_t>(k * 18 + o);
      ASSERT_DOUBLE_EQ(effective[at], scale * q + offset);
      ASSERT_NEAR(effective[at], values[at], scale * 0.51 + 1e-3);
    }
  }
  EXPECT_EQ(scale_at(18), 0) << "padding columns have no scale";
}

INSTANTIATE_TEST_SUITE_P(Types, QuantisedWeights,
                         testing::Values(QuantCase{WeightType::kInt8, 8, Precision::kHigh},
                                         QuantCase{WeightType::kInt8, 8, Precision::kLow},
                                         QuantCase{WeightType::kInt4, 4, Precision::kHigh},
                                         QuantCase{WeightType::kInt4, 4, Precision::kNormal}));

// Between 0 and 255 one step is 1.
TEST(QuantisedWeights, AreTheNearestStepsAndTheEvenOneHalfwayBetweenTwo) {
  const Values values = {0, 255, 0.5, 1.5, 2.5, 2.4999, 253.5, 254.5, 0.49999999999999994};
  const TensorRole role = matrix(1, static_cast<int64_t>(values.size()), 1);
  EXPECT_THAT(effective_weights(role, Precision::kHigh, WeightType::kInt8, values),
              testing::ElementsAre(0, 255, 0, 2, 2, 2, 254, 254, 0));
}

// One half a block and column, at every precision, in panels as the numbers are; 8 means zero.
TEST(WeightsAsQ4_0, GiveBackTheEffectiveValuesByTheDocumentedFormula) {
  const TensorRole role = matrix(1, 70, 18);
  const Values values = ramp(role.elements(), 0.01);
  for (const Precision precision : {Precision::kHigh, Precision::kNormal}) {
    const Values effective = effective_weights(role, precision, WeightType::kQ4_0, values);
    const PackedWeights packed =
        pack_weights(role, precision, WeightType::kQ4_0, Storage::kBuffer, 16, values);
    ASSERT_EQ(packed.data.size(), 32u * 18 * 2);
    ASSERT_EQ(packed.scales.size(), 3u * 32 * 2);
    int zeros = 0;
    for (int64_t k = 0; k < 70; ++k) {
      for (int64_t o = 0; o < 18; ++o) {
        const uint16_t word = word_at(packed.data, (o / 16 * 18 + k / 4) * 16 + o % 16);
        const int q = word >> (k % 4 * 4) & 15;
        const double scale =
            half_to_float(word_at(packed.scales, (o / 16 * 3 + k / 32) * 16 + o % 16));
        const auto at = static_cast<size_t>(k * 18 + o);
        ASSERT_DOUBLE_EQ(effective[at], scale * (q - 8));
        ASSERT_NEAR(effective[at], values[at], std::fabs(scale) * 1.01 + 1e-3)
            << "a step at one end";
        zeros += q == 0;
      }
    }
    EXPECT_GE(zeros, 3 * 18) << "the largest of each block";
  }
}

TEST(WeightsAsQ4_0, KeepTheBlocksOfAModel) {
  const TensorRole role = matrix(1, 64, 5);
  std::vector<uint8_t> quants(5 * 64);
  for (size_t i = 0; i < quants.size(); ++i) quants[i] = static_cast<uint8_t>(i * 5 % 16);
  std::vector<float> scales(5 * 2);
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = half_to_float(static_cast<uint16_t>(0x1234 + 77 * i));
  }
  const PackedWeights packed = pack_rows(role, Precision::kHigh, Storage::kBuffer, 0,
                                         {WeightType::kQ4_0, quants, scales, {}});
  for (size_t o = 0; o < 5; ++o) {
    for (size_t k = 0; k < 64; ++k) {
      const auto word = word_at(packed.data, static_cast<int64_t>(k / 4 * 16 + o));
      ASSERT_EQ(word >> (k % 4 * 4) & 15, quants[o * 64 + k]);
      const auto at = static_cast<int64_t>(k / 32 * 16 + o);
      ASSERT_EQ(half_to_float(word_at(packed.scales, at)), scales[o * 2 + k / 32]);
    }
  }
}

TEST(QuantisedWeights, ThatAreConstantStayConstant) {
  const TensorRole role = matrix(1, 32, 4);
  const Values values(128, 0.5);
  EXPECT_THAT(effective_weights(role, Precision::kNormal, WeightType::kInt4, values), Each(0.5));
}

TEST(Vector, IsPaddedWithZerosToSixteenFloats) {
  const TensorRole role{.name = "bias", .kind = TensorKind::kVector, .c = 18};
  const Bytes bytes = encode_vector(role, ramp(18, 1));
  ASSERT_EQ(bytes.size(), 32u * 4);
  EXPECT_EQ(float_at(bytes, 17), ramp(18, 1)[17]);
  EXPECT_EQ(float_at(bytes, 18), 0);
}

// 70 inputs are padded to 72, 18 outputs to 32 columns, and to 48 where a panel holds 48 of them;
// three blocks have a scale and an offset a column.
TEST(PackedSize, CountsWhatPackingMakes) {
  const TensorRole role = matrix(1, 70, 18);
  const auto size = [&](Precision precision, WeightType type, Storage storage, int64_t pack) {
    return packed_size(role, precision, type, storage, pack);
  };
  EXPECT_EQ(size(Precision::kHigh, WeightType::kFloat, Storage::kBuffer, 0).data, 72u * 32 * 4);
  EXPECT_EQ(size(Precision::kLow, WeightType::kFloat, Storage::kBuffer, 48).data, 72u * 48 * 2);
  EXPECT_EQ(size(Precision::kLow, WeightType::kFloat, Storage::kImage, 48).data, 72u * 32 * 2);
  EXPECT_EQ(size(Precision::kHigh, WeightType::kFloat, Storage::kBuffer, 0).scales, 0u);
  const PackedSize int8 = size(Precision::kHigh, WeightType::kInt8, Storage::kImage, 0);
  EXPECT_EQ(int8.data, 72u * 32);
  EXPECT_EQ(int8.scales, 3u * 2 * 32 * 4);
  EXPECT_EQ(int8.image.width, 8);
  EXPECT_EQ(int8.image.height, 36);
  const PackedSize int4 = size(Precision::kNormal, WeightType::kInt4, Storage::kBuffer, 16);
  EXPECT_EQ(int4.data, 72u * 32 / 2);
  EXPECT_EQ(int4.scales, 3u * 2 * 32 * 2);
  EXPECT_EQ(int4.image.height, 18);
  const PackedSize q4_0 = size(Precision::kHigh, WeightType::kQ4_0, Storage::kBuffer, 16);
  EXPECT_EQ(q4_0.data, 72u * 32 / 2);
  EXPECT_EQ(q4_0.scales, 3u * 32 * 2);
  const PackedSize wide = size(Precision::kHigh, WeightType::kQ4_0, Storage::kBuffer, 48);
  EXPECT_EQ(wide.data, 72u * 48 / 2);
  EXPECT_EQ(wide.scales, 3u * 48 * 2);
}

// Layers of a model, one behind the other.
class SeveralMatrices : public testing::TestWithParam<WeightType> {
 protected:
  static constexpr int64_t kCount = 3;
  static TensorRole several() {
    TensorRole role = one_;
    role.n = kCount;
    return role;
  }
  Values part(int64_t i) const {
    const auto size = one_.elements();
    return {values_.begin() + i * size, values_.begin() + (i + 1) * size};
  }
  static constexpr auto kPack = 32;
  inline static const TensorRole one_ = matrix(1, 70, 18);
  const Values values_ = ramp(several().elements(), 0.01);
};

TEST_P(SeveralMatrices, ArePackedAsEachIsOneBehindTheOther) {
  for (const Precision precision : {Precision::kHigh, Precision::kNormal}) {
    const auto packed = [&](const TensorRole& role, const Values& values) {
      return pack_weights(role, precision, GetParam(), Storage::kBuffer, kPack, values);
    };
    Bytes data, scales;
    for (int64_t i = 0; i < kCount; ++i) {
      const PackedWeights each = packed(one_, part(i));
      data.insert(data.end(), each.data.begin(), each.data.end());
      scales.insert(scales.end(), each.scales.begin(), each.scales.end());
    }
    const PackedWeights all = packed(several(), values_);
    EXPECT_EQ(all.data, data);
    EXPECT_EQ(all.scales, scales);
    const PackedSize size = packed_size(several(), precision, GetParam(), Storage::kBuffer, kPack);
    EXPECT_EQ(size.data, data.size());
    EXPECT_EQ(size.scales, scales.size());
  }
}

TEST_P(SeveralMatrices, GiveBackTheEffectiveValuesOfEach) {
  for (const Precision precision : {Precision::kHigh, Precision::kNormal}) {
    Values wanted;
    for (int64_t i = 0; i < kCount; ++i) {
      const Values each = effective_weights(one_, precision, GetParam(), part(i));
      wanted.insert(wanted.end(), each.begin(), each.end());
    }
    EXPECT_EQ(effective_weights(several(), precision, GetParam(), values_), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SeveralMatrices,
                         testing::Values(WeightType::kFloat, WeightType::kInt8, WeightType::kQ4_0));

TEST(BytesAWeight, AreThoseOfAMatrixWithoutPadding) {
  const TensorRole role = matrix(1, 64, 32);
  for (const Precision precision : {Precision::kHigh, Precision::kNormal}) {
    for (const WeightType type :
         {WeightType::kFloat, WeightType::kInt8, WeightType::kInt4, WeightType::kQ4_0}) {
      const PackedSize size = packed_size(role, precision, type, Storage::kBuffer, 0);
      EXPECT_DOUBLE_EQ(bytes_a_weight(precision, type) * 64 * 32,
                       static_cast<double>(size.data + size.scales));
    }
  }
}

TEST(RowsOfAModel, LieWhereTheDocumentedFormulaFindsThem) {
  const TensorRole role = matrix(1, 70, 18);
  std::vector<uint8_t> quants(18 * 70);
  std::vector<float> scales(18 * 3), offsets(18 * 3);
  for (size_t i = 0; i < quants.size(); ++i) quants[i] = static_cast<uint8_t>(i * 7 % 16);
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = 0.25f * static_cast<float>(i + 1);
    offsets[i] = -static_cast<float>(i);
  }
  const PackedWeights packed = pack_rows(role, Precision::kHigh, Storage::kBuffer, 16,
                                         {WeightType::kInt4, quants, scales, offsets});
  ASSERT_EQ(packed.data.size(), 32u * 18 * 2);
  for (size_t o = 0; o < 18; ++o) {
    for (size_t k = 0; k < 70; ++k) {
      const auto word =
          word_at(packed.data, static_cast<int64_t>((o / 16 * 18 + k / 4) * 16 + o % 16));
      ASSERT_EQ(word >> (k % 4 * 4) & 15, quants[o * 70 + k]) << o << " " << k;
      const auto at = static_cast<int64_t>(k / 32 * 64 + o);
      ASSERT_EQ(float_at(packed.scales, at), scales[o * 3 + k / 32]);
      ASSERT_EQ(float_at(packed.scales, at + 32), offsets[o * 3 + k / 32]);
    }
  }
}

}  // namespace
}  // namespace clvet
