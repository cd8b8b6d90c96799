#include "kernels/layout.h"

#include <algorithm>
#include <cstring>

#include "base/half.h"

namespace clvet {
namespace {

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

size_t element_bytes(Precision precision) { return stores_half(precision) ? 2 : 4; }

template <class Value>
void store(Precision precision, std::byte* at, Value value) {
  if (stores_half(precision)) {
    const uint16_t bits = double_to_half(static_cast<double>(value));
    std::memcpy(at, &bits, sizeof bits);
  } else {
    const auto single = static_cast<float>(value);
    std::memcpy(at, &single, sizeof single);
  }
}

float load(Precision precision, const std::byte* at) {
  if (stores_half(precision)) {
    uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return half_to_float(bits);
  }
  float single = 0;
  std::memcpy(&single, at, sizeof single);
  return single;
}

template <class Value>
void encode(const TensorRole& role, Precision precision, std::span<const Value> values,
            std::span<std::byte> out) {
  const size_t size = element_bytes(precision);
  const int64_t padded = round_up(role.c, 4);
  const int64_t pixels = role.n * role.h * role.w;
  if (padded != role.c) std::fill(out.begin(), out.end(), std::byte{0});
  for (int64_t p = 0; p < pixels; ++p) {
    const Value* from = values.data() + p * role.c;
    std::byte* to = out.data() + static_cast<size_t>(p * padded) * size;
    for (int64_t i = 0; i < role.c; ++i)
      store(precision, to + static_cast<size_t>(i) * size, from[i]);
  }
}

template <class Value>
void decode(const TensorRole& role, Precision precision, std::span<const std::byte> bytes,
            std::span<Value> values, bool* padding_clean) {
  const size_t size = element_bytes(precision);
  const int64_t padded = round_up(role.c, 4);
  const int64_t pixels = role.n * role.h * role.w;
  for (int64_t p = 0; p < pixels; ++p) {
    const std::byte* from = bytes.data() + static_cast<size_t>(p * padded) * size;
    Value* to = values.data() + p * role.c;
    for (int64_t i = 0; i < role.c; ++i)
      to[i] = load(precision, from + static_cast<size_t>(i) * size);
    for (int64_t i = role.c; padding_clean != nullptr && i < padded; ++i) {
      if (load(precision, from + static_cast<size_t>(i) * size) != 0.f) *padding_clean = false;
    }
  }
}

}  // namespace

ImageExtent activation_extent(const TensorRole& role) {
  return {role.w * (round_up(role.c, 4) / 4), role.n * role.h};
}

size_t activation_bytes(const TensorRole& role, Precision precision) {
  const ImageExtent extent = activation_extent(role);
  return static_cast<size_t>(extent.width * extent.height * 4) * element_bytes(precision);
}

Bytes encode_activation(const TensorRole& role, Precision precision,
                        std::span<const double> values) {
  Bytes bytes(activation_bytes(role, precision));
  encode<double>(role, precision, values, bytes);
  return bytes;
}

Values decode_activation(const TensorRole& role, Precision precision,
                         std::span<const std::byte> bytes, bool* padding_clean) {
  Values values(static_cast<size_t>(role.elements()));
  if (padding_clean != nullptr) *padding_clean = true;
  decode<double>(role, precision, bytes, values, padding_clean);
  return values;
}

void encode_activation_f32(const TensorRole& role, Precision precision,
                           std::span<const float> values, std::span<std::byte> out) {
  if (!stores_half(precision) && role.c % 4 == 0) {
    std::memcpy(out.data(), values.data(), values.size_bytes());
    return;
  }
  encode<float>(role, precision, values, out);
}

void decode_activation_f32(const TensorRole& role, Precision precision,
                           std::span<const std::byte> bytes, std::span<float> values) {
  if (!stores_half(precision) && role.c % 4 == 0) {
    std::memcpy(values.data(), bytes.data(), values.size_bytes());
    return;
  }
  decode<float>(role, precision, bytes, values, nullptr);
}

Bytes encode_vector(const TensorRole& role, std::span<const double> values) {
  Bytes bytes(static_cast<size_t>(round_up(role.c, kColumnAlign)) * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    store(Precision::kHigh, bytes.data() + i * sizeof(float), values[i]);
  }
  return bytes;
}

}  // namespace clvet
