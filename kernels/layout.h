// How logical tensors lie in device memory. The only place that knows.
//
// Activations, buffer: channels-last [n][h][w][c4*4], c padded to a multiple of 4 (c4 = ceil(c/4)).
//   Padding lanes are zero; a kernel that writes a texel writes zeros there.
// Activations, image: RGBA image2d, texel (x = w_index * c4 + c/4, y = n_index * h + h_index), the
//   same bytes as the buffer with n*h rows of w*c4 texels.
//   Element type: float for high, IEEE half for normal and low (CL_FLOAT / CL_HALF_FLOAT).
// Weights, logical [taps][cin][cout], seen as a matrix of k rows (k = tap * cinp + ci, cinp = cin
//   padded to 4 where `pad_cin`, padding rows zero; then k padded to a multiple of 4) and
//   np = round_up(cout, 16) columns, padding columns zero.
//   buffer: panels of `pack` columns (0 = one panel of np columns): [ceil(np/pack)][k'][pack],
//   element
//     kFloat: one value (float for high, half otherwise), k' = k
//     kInt8:  one ushort for 2 rows (even row in the low byte), k' = k/2
//     kInt4, kQ4_0: one ushort for 4 rows (row 4i in the lowest nibble), k' = k/4
//   image: always one panel of np columns: RGBA texel (x = column/4, y = k'), CL_FLOAT /
//     CL_HALF_FLOAT for kFloat, CL_UNSIGNED_INT16 for the quantised types.
//   Quantised: padding rows hold q = 0 (the activation's padding lanes cancel them), padding
//   columns
//     q = scale = offset = 0. value = scale * q + offset, q unsigned (0..255 or 0..15), one (scale,
//     offset) for each column and each block of 32 rows of k.
// Scales, always a buffer: [ceil(k/32)][2][np]: scales then offsets; float for high, half
// otherwise. kQ4_0: halves in panels as its numbers are, [ceil(np/pack)][ceil(k/32)][pack], the
// offset being -8 times the scale. Vectors, always a buffer: float32, padded with zeros to
// round_up(c, 16) values. Indices, always a buffer: c int32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/weight_levels.h"

namespace clvet {

using Bytes = std::vector<std::byte>;

inline constexpr int64_t kQuantBlock = 32;
inline constexpr int kQ4_0Centre = 8;  // the number that means 0 in a block of kQ4_0
inline constexpr int64_t kColumnAlign = 16;
// Bytes that every buffer a kernel gets has behind its values: 16 floats may be loaded from where
// the last texel is.
inline constexpr size_t kBufferSlack = 64;

struct ImageExtent {
  int64_t width = 0, height = 0;  // texels
};

// The precision whose storage type an activation has (TensorRole::in_float).
inline Precision stored_as(const TensorRole& role, Precision precision) {
  return role.in_float ? Precision::kHigh : precision;
}
// Texels of the activation `role`, and its bytes in device layout (buffer or image alike).
ImageExtent activation_extent(const TensorRole& role);
size_t activation_bytes(const TensorRole& role, Precision precision);
// Rounds to the storage type (nearest even; beyond half's range: infinity) and lays out.
Bytes encode_activation(const TensorRole& role, Precision precision,
                        std::span<const double> values);
// The inverse; bytes.size() must equal activation_bytes(). `padding_clean` (may be null) is set to
// false where a padding lane is not zero.
Values decode_activation(const TensorRole& role, Precision precision,
                         std::span<const std::byte> bytes, bool* padding_clean);
// The same for float32 host tensors, the runtime's fast path.
void encode_activation_f32(const TensorRole& role, Precision precision,
                           std::span<const float> values, std::span<std::byte> out);
void decode_activation_f32(const TensorRole& role, Precision precision,
                           std::span<const std::byte> bytes, std::span<float> values);
// The same where the host holds each channel of each image as a plane: [n][c][h * w].
void encode_planes_f32(const TensorRole& role, Precision precision, std::span<const float> planes,
                       std::span<std::byte> out);
void decode_planes_f32(const TensorRole& role, Precision precision,
                       std::span<const std::byte> bytes, std::span<float> planes);

// Rows of k and columns np of the padded weight matrix.
int64_t weight_rows(const TensorRole& role);
int64_t weight_columns(const TensorRole& role);

// Weights as the device sees them.
struct PackedWeights {
  Bytes data;
  Bytes scales;       // empty for kFloat
  ImageExtent image;  // texels of `data` for image storage, whether or not it is used
};

// Bytes and texels of packed weights, `pack` as there; for kFloat `scales` is 0.
struct PackedSize {
  size_t data = 0, scales = 0;
  ImageExtent image;
};
PackedSize packed_size(const TensorRole& role, Precision precision, WeightType type,
                       Storage storage, int64_t pack);
// Bytes of a weight with its share of its block's scale and offset, in a matrix without padding.
double bytes_a_weight(Precision precision, WeightType type);

// Of n matrices each is packed as if there were no other, one behind the other (pack_weights,
// packed_size, effective_weights); `image` is of one.
//
// Packs float weights. kFloat rounds to the storage type; kInt8/kInt4 quantise each block of 32
// rows of a column by min and max, kQ4_0 so that its largest magnitude is number 0, as files have
// it (used by trials; models bring their own blocks).
PackedWeights pack_weights(const TensorRole& role, Precision precision, WeightType type,
                           Storage storage, int64_t pack, std::span<const double> values);
// Weights as models bring them: [cout][cin], taps = 1.
struct QuantisedRows {
  WeightType type = WeightType::kInt8;     // quants up to 255, or up to 15
  std::span<const uint8_t> quants;         // [cout][cin]
  std::span<const float> scales, offsets;  // [cout][ceil(cin / kQuantBlock)]; kQ4_0: no offsets
};
PackedWeights pack_rows(const TensorRole& role, Precision precision, Storage storage, int64_t pack,
                        const QuantisedRows& rows);
PackedWeights pack_rows(const TensorRole& role, Precision precision, Storage storage, int64_t pack,
                        std::span<const float> rows);
// Packs weights that are `levels` as kInt8; `values` as above.
PackedWeights pack_levels(const TensorRole& role, Precision precision, Storage storage,
                          int64_t pack, std::span<const double> values, const WeightLevels& levels);
// The exact values that a kernel multiplies by after pack_weights with the same arguments: storage
// rounding and quantisation applied, scales rounded as stored. Logical order.
Values effective_weights(const TensorRole& role, Precision precision, WeightType type,
                         std::span<const double> values);
// The same after pack_levels.
Values effective_levels(const TensorRole& role, Precision precision, std::span<const double> values,
                        const WeightLevels& levels);

// Bytes of a vector role on the device, and how many they are.
size_t vector_bytes(int64_t values);
Bytes encode_vector(const TensorRole& role, std::span<const double> values);
// Bytes of an indices role on the device; each value is a whole number of 32 bits.
Bytes encode_indices(std::span<const int64_t> values);

}  // namespace clvet
