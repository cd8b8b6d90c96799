#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/winograd.h"

namespace clvet::op_contract_winograd {
namespace {

constexpr auto kOutputs = static_cast<size_t>(kWinogradOutputs);
constexpr auto kInputs = static_cast<size_t>(kWinogradInputs);
constexpr auto kProducts = static_cast<size_t>(kWinogradProducts);

// A whole convolution: y = act(A (w * (B d B')) A' + bias), where w are its filters as the products
// want them (G w G'), [product][channel][filter].
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "OC", "OH", "OW"};
  CLVET_RETURN_IF_ERROR(need_positive("winograd", dims, names));
  for (const char* name : {"pad_top", "pad_left"}) {
    if (dim_or(dims, name, -1) < 0)
      return fail(ErrorCode::kInvalidArgument, "winograd: dim '{}' is missing or negative", name);
  }
  const int64_t n = dim(dims, "N"), c = dim(dims, "C"), oc = dim(dims, "OC");
  TensorRole x{.name = "x", .n = n, .h = dim(dims, "H"), .w = dim(dims, "W"), .c = c};
  TensorRole w{
      .name = "w", .kind = TensorKind::kWeights, .taps = kWinogradProducts, .cin = c, .cout = oc};
  TensorRole bias{.name = "bias", .kind = TensorKind::kVector, .c = oc};
  TensorRole y{.name = "y",
               .kind = TensorKind::kOutput,
               .n = n,
               .h = dim(dims, "OH"),
               .w = dim(dims, "OW"),
               .c = oc};
  return std::vector<TensorRole>{x, w, bias, y};
}

// Of one channel, B d B' and, element by element, the sums of the squares of its terms.
struct Transformed {
  std::array<double, kProducts> value{}, squares{};
};

Transformed transformed(const std::array<double, kProducts>& d) {
  Transformed made;
  for (size_t p = 0; p < kProducts; ++p) {
    for (size_t t = 0; t < kProducts; ++t) {
      const double factor =
          kWinogradB[p / kInputs][t / kInputs] * kWinogradB[p % kInputs][t % kInputs];
      if (factor == 0) continue;
      made.value[p] += factor * d[t];
      made.squares[p] += factor * d[t] * factor * d[t];
    }
  }
  return made;
}

// The products of a tile, [product][filter].
std::vector<RowSums> products_of(const std::vector<Transformed>& channels, const Values& w,
                                 size_t filters) {
  std::vector<RowSums> sums(kProducts, RowSums(filters));
  for (size_t p = 0; p < kProducts; ++p) {
    for (size_t k = 0; k < channels.size(); ++k) {
      const double* row = w.data() + (p * channels.size() + k) * filters;
      const double value = channels[k].value[p], squares = channels[k].squares[p];
      for (size_t o = 0; o < filters; ++o) {
        sums[p].sum[o] += value * row[o];
        sums[p].squares[o] += squares * row[o] * row[o];
      }
    }
  }
  return sums;
}

// Where a tile lies, and the extents around it.
struct Place {
  int64_t image, line, column, h, w, c, oh, ow;
};

// What the tile reads of each channel; `top` and `left` are its first pixel.
std::vector<Transformed> channels_of(const Place& tile, int64_t top, int64_t left,
                                     const Values& x) {
  std::vector<Transformed> channels;
  for (int64_t k = 0; k < tile.c; ++k) {
    std::array<double, kProducts> d{};
    for (int64_t t = 0; t < kWinogradProducts; ++t) {
      const int64_t iy = top + t / kWinogradInputs, ix = left + t % kWinogradInputs;
      if (iy < 0 || iy >= tile.h || ix < 0 || ix >= tile.w) continue;
      const int64_t at = ((tile.image * tile.h + iy) * tile.w + ix) * tile.c + k;
      d[static_cast<size_t>(t)] = x[static_cast<size_t>(at)];
    }
    channels.push_back(transformed(d));
  }
  return channels;
}

void put_outputs(const Place& tile, const std::vector<RowSums>& products, const Values& bias,
                 ReferenceResult& result) {
  for (size_t i = 0; i < kOutputs * kOutputs; ++i) {
    const int64_t oy = tile.line * kWinogradOutputs + static_cast<int64_t>(i / kOutputs);
    const int64_t ox = tile.column * kWinogradOutputs + static_cast<int64_t>(i % kOutputs);
    if (oy >= tile.oh || ox >= tile.ow) continue;
    RowSums sums(bias);
    for (size_t p = 0; p < kProducts; ++p) {
      const double factor =
          kWinogradA[i / kOutputs][p / kInputs] * kWinogradA[i % kOutputs][p % kInputs];
      for (size_t o = 0; factor != 0 && o < bias.size(); ++o) {
        sums.sum[o] += factor * products[p].sum[o];
        sums.squares[o] += products[p].squares[o];
      }
    }
    const auto pixel = static_cast<size_t>((tile.image * tile.oh + oy) * tile.ow + ox);
    std::ranges::copy(sums.sum, &result.value[pixel * bias.size()]);
    std::ranges::copy(sums.squares, &result.sum_squares[pixel * bias.size()]);
  }
}

ReferenceResult reference(const CallValues& values) {
  const Dims& dims = values.dims;
  Place tile{.h = dim(dims, "H"),
             .w = dim(dims, "W"),
             .c = dim(dims, "C"),
             .oh = dim(dims, "OH"),
             .ow = dim(dims, "OW")};
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  // Terms that neither A nor B makes zero: 9 products for an output, each of 4 inputs.
  result.reduction = 36 * tile.c + 1;
  result.products =
      static_cast<double>(kWinogradProducts * tile.c) / kWinogradOutputs / kWinogradOutputs;
  result.value.resize(static_cast<size_t>(dim(dims, "N") * tile.oh * tile.ow) * bias.size());
  result.sum_squares.resize(result.value.size());
  const int64_t down = winograd_tiles(tile.oh), across = winograd_tiles(tile.ow);
  for (int64_t i = 0; i < dim(dims, "N") * down * across; ++i) {
    tile.image = i / across / down;
    tile.line = i / across % down;
    tile.column = i % across;
    const auto channels = channels_of(tile, tile.line * kWinogradOutputs - dim(dims, "pad_top"),
                                      tile.column * kWinogradOutputs - dim(dims, "pad_left"),
                                      values.tensors.find("x")->second);
    const auto products = products_of(channels, values.tensors.find("w")->second, bias.size());
    put_outputs(tile, products, bias, result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"winograd", roles, reference};

}  // namespace clvet::op_contract_winograd
