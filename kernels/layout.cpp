#include "kernels/layout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/half.h"
#include "base/numbers.h"
#include "kernels/combination.h"
#include "kernels/contract.h"

namespace clvet {
namespace {

bool is_half(const TensorRole& role, Precision precision) {
  return stores_half(stored_as(role, precision));
}

// Element: float or, as bits, half.
template <class Element>
Element stored(double value) {
  if constexpr (sizeof(Element) == 2) return double_to_half(value);
  return static_cast<float>(value);
}
template <class Element>
Element stored(float value) {
  if constexpr (sizeof(Element) == 2) return float_to_half(value);
  return value;
}
template <class Element>
float loaded(Element element) {
  if constexpr (sizeof(Element) == 2) return half_to_float(element);
  return element;
}

// How far apart the values of neighbouring pixels and channels of an image lie on the host.
struct Strides {
  int64_t pixel, channel;
};
Strides rows_of(const TensorRole& role) { return {role.c, 1}; }
Strides planes_of(const TensorRole& role) { return {1, role.h * role.w}; }

bool lies_as_on_host(const TensorRole& role, Precision precision) {
  return !is_half(role, precision) && role.c % 4 == 0;
}

// Calls visit(n) with a constant n = 1 to 4, which lets a compiler unroll what it bounds.
template <class Visit>
void with_lanes(int64_t lanes, const Visit& visit) {
  if (lanes == 1) visit(std::integral_constant<int64_t, 1>());
  if (lanes == 2) visit(std::integral_constant<int64_t, 2>());
  if (lanes == 3) visit(std::integral_constant<int64_t, 3>());
  if (lanes == 4) visit(std::integral_constant<int64_t, 4>());
}

// visit(first value on the host, its texel, lanes) for each texel. Planes are walked in blocks that
// stay in a cache on both sides; rows of texels lie on both sides one behind the other.
template <class Visit>
void each_texel(const TensorRole& role, Strides strides, const Visit& visit) {
  constexpr int64_t kBlock = 64;
  const int64_t pixels = role.h * role.w, quads = round_up(role.c, 4) / 4;
  if (strides.channel == 1 && quads > 1) {
    for (int64_t row = 0; row < role.n * pixels; ++row) {
      const int64_t value = row * role.c, texel = row * quads, whole = role.c / 4;
      for (int64_t quad = 0; quad < whole; ++quad) {
        visit(value + 4 * quad, texel + quad, std::integral_constant<int64_t, 4>());
      }
      with_lanes(role.c % 4, [&](auto lanes) { visit(value + 4 * whole, texel + whole, lanes); });
    }
    return;
  }
  const int64_t blocks = (pixels + kBlock - 1) / kBlock;
  for (int64_t block = 0; block < role.n * blocks * quads; ++block) {
    const int64_t quad = block % quads;
    const int64_t n = block / quads / blocks, first = block / quads % blocks * kBlock;
    const int64_t value = n * pixels * role.c + 4 * quad * strides.channel;
    with_lanes(std::min<int64_t>(4, role.c - 4 * quad), [&](auto lanes) {
      for (int64_t p = first; p < std::min(first + kBlock, pixels); ++p) {
        visit(value + p * strides.pixel, (n * pixels + p) * quads + quad, lanes);
      }
    });
  }
}

template <class Element, class Value>
void encode(const TensorRole& role, Strides strides, const Value* values, std::byte* out) {
  each_texel(role, strides, [=](int64_t from, int64_t to, auto lanes) {
    std::array<Element, 4> texel{};
    for (int64_t i = 0; i < lanes; ++i) {
      texel[static_cast<size_t>(i)] = stored<Element>(values[from + i * strides.channel]);
    }
    std::memcpy(out + static_cast<size_t>(to) * sizeof texel, texel.data(), sizeof texel);
  });
}

// Whether all padding lanes are zero.
template <class Element, class Value>
bool decode(const TensorRole& role, Strides strides, const std::byte* bytes, Value* values) {
  bool clean = true;
  each_texel(role, strides, [=, &clean](int64_t to, int64_t from, auto lanes) {
    std::array<Element, 4> texel;
    std::memcpy(texel.data(), bytes + static_cast<size_t>(from) * sizeof texel, sizeof texel);
    for (int64_t i = 0; i < lanes; ++i) {
      values[to + i * strides.channel] = loaded(texel[static_cast<size_t>(i)]);
    }
    for (int64_t i = lanes; i < 4; ++i) clean &= loaded(texel[static_cast<size_t>(i)]) == 0.f;
  });
  return clean;
}

template <class Value>
void encode(const TensorRole& role, Precision precision, const Strides& strides,
            std::span<const Value> values, std::span<std::byte> out) {
  const auto run = is_half(role, precision) ? encode<uint16_t, Value> : encode<float, Value>;
  run(role, strides, values.data(), out.data());
}

template <class Value>
bool decode(const TensorRole& role, Precision precision, const Strides& strides,
            std::span<const std::byte> bytes, std::span<Value> values) {
  const auto run = is_half(role, precision) ? decode<uint16_t, Value> : decode<float, Value>;
  return run(role, strides, bytes.data(), values.data());
}

}  // namespace

ImageExtent activation_extent(const TensorRole& role) {
  return {role.w * (round_up(role.c, 4) / 4), role.n * role.h};
}

size_t activation_bytes(const TensorRole& role, Precision precision) {
  const ImageExtent extent = activation_extent(role);
  return static_cast<size_t>(extent.width * extent.height * 4) * (is_half(role, precision) ? 2 : 4);
}

Bytes encode_activation(const TensorRole& role, Precision precision,
                        std::span<const double> values) {
  Bytes bytes(activation_bytes(role, precision));
  encode<double>(role, precision, rows_of(role), values, bytes);
  return bytes;
}

Values decode_activation(const TensorRole& role, Precision precision,
                         std::span<const std::byte> bytes, bool* padding_clean) {
  Values values(static_cast<size_t>(role.elements()));
  const bool clean = decode<double>(role, precision, rows_of(role), bytes, values);
  if (padding_clean != nullptr) *padding_clean = clean;
  return values;
}

void encode_activation_f32(const TensorRole& role, Precision precision,
                           std::span<const float> values, std::span<std::byte> out) {
  if (lies_as_on_host(role, precision)) {
    std::memcpy(out.data(), values.data(), values.size_bytes());
    return;
  }
  encode<float>(role, precision, rows_of(role), values, out);
}

void decode_activation_f32(const TensorRole& role, Precision precision,
                           std::span<const std::byte> bytes, std::span<float> values) {
  if (lies_as_on_host(role, precision)) {
    std::memcpy(values.data(), bytes.data(), values.size_bytes());
    return;
  }
  decode<float>(role, precision, rows_of(role), bytes, values);
}

void encode_planes_f32(const TensorRole& role, Precision precision, std::span<const float> planes,
                       std::span<std::byte> out) {
  encode<float>(role, precision, planes_of(role), planes, out);
}

void decode_planes_f32(const TensorRole& role, Precision precision,
                       std::span<const std::byte> bytes, std::span<float> planes) {
  decode<float>(role, precision, planes_of(role), bytes, planes);
}

size_t vector_bytes(int64_t values) {
  return static_cast<size_t>(round_up(values, kColumnAlign)) * sizeof(float);
}

Bytes encode_vector(const TensorRole& role, std::span<const double> values) {
  Bytes bytes(vector_bytes(role.c));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

Bytes encode_indices(std::span<const int64_t> values) {
  Bytes bytes(values.size() * sizeof(int32_t));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<int32_t>(values[i]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

}  // namespace clvet
