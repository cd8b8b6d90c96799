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

// Where a tile lies, and the extents around it.
struct Place {
  int64_t image, line, column, oh, ow;
};

// The products of tile number `tile` of `tiles`, [product][filter]; `x` has the tiles as
// winograd_in makes them, with the sums of the squares of their terms.
std::vector<RowSums> products_of(int64_t tile, int64_t tiles, const ReferenceResult& x,
                                 const Values& w, int64_t channels, size_t filters) {
  std::vector<RowSums> sums(kProducts, RowSums(filters));
  for (int64_t i = 0; i < kWinogradProducts * channels; ++i) {
    const int64_t p = i / channels;
    const auto at = static_cast<size_t>((p * tiles + tile) * channels + i % channels);
    const double* row = w.data() + static_cast<size_t>(i) * filters;
    RowSums& own = sums[static_cast<size_t>(p)];
    for (size_t o = 0; o < filters; ++o) {
      own.sum[o] += x.value[at] * row[o];
      own.squares[o] += x.sum_squares[at] * row[o] * row[o];
    }
  }
  return sums;
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
  const int64_t c = dim(dims, "C");
  Place tile{.oh = dim(dims, "OH"), .ow = dim(dims, "OW")};
  const ReferenceResult x = find_op_contract("winograd_in")
                                ->reference({dims, {}, {{"x", values.tensors.find("x")->second}}});
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  // Terms that neither A nor B makes zero: 9 products for an output, each of 4 inputs.
  result.reduction = 36 * c + 1;
  result.products =
      static_cast<double>(kWinogradProducts * c) / kWinogradOutputs / kWinogradOutputs;
  result.value.resize(static_cast<size_t>(dim(dims, "N") * tile.oh * tile.ow) * bias.size());
  result.sum_squares.resize(result.value.size());
  const int64_t down = winograd_tiles(tile.oh), across = winograd_tiles(tile.ow);
  const int64_t tiles = dim(dims, "N") * down * across;
  for (int64_t i = 0; i < tiles; ++i) {
    tile.image = i / across / down;
    tile.line = i / across % down;
    tile.column = i % across;
    const auto products =
        products_of(i, tiles, x, values.tensors.find("w")->second, c, bias.size());
    put_outputs(tile, products, bias, result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"winograd", roles, reference};

}  // namespace clvet::op_contract_winograd
