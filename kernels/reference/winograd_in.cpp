#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/winograd.h"

namespace clvet::op_contract_winograd_in {
namespace {

// The tiles of a convolution's input as Winograd multiplies them: y[i * 4 + j] holds element i, j
// of B d B' of every tile d, a pixel each, the tiles in reading order.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "OH", "OW"};
  CLVET_RETURN_IF_ERROR(need_positive("winograd_in", dims, names));
  for (const char* name : {"pad_top", "pad_left"}) {
    if (dim_or(dims, name, -1) < 0) {
      return fail(ErrorCode::kInvalidArgument, "winograd_in: dim '{}' is missing or negative",
                  name);
    }
  }
  const int64_t n = dim(dims, "N"), c = dim(dims, "C");
  TensorRole x{.name = "x", .n = n, .h = dim(dims, "H"), .w = dim(dims, "W"), .c = c};
  TensorRole y{.name = "y",
               .kind = TensorKind::kOutput,
               .n = kWinogradProducts,
               .h = n * winograd_tiles(dim(dims, "OH")),
               .w = winograd_tiles(dim(dims, "OW")),
               .c = c};
  return std::vector<TensorRole>{x, y};
}

ReferenceResult reference(const CallValues& values) {
  const Dims& dims = values.dims;
  const int64_t h = dim(dims, "H"), w = dim(dims, "W"), c = dim(dims, "C");
  const int64_t down = winograd_tiles(dim(dims, "OH")), across = winograd_tiles(dim(dims, "OW"));
  const int64_t tiles = dim(dims, "N") * down * across;
  const Values& x = values.tensors.find("x")->second;
  ReferenceResult result;
  result.reduction = 4;  // terms that B and B' do not make zero
  for (int64_t at = 0; at < kWinogradProducts * tiles; ++at) {
    const auto i = static_cast<size_t>(at / tiles / kWinogradInputs);
    const auto j = static_cast<size_t>(at / tiles % kWinogradInputs);
    const int64_t tile = at % tiles, image = tile / across / down;
    const int64_t top = tile / across % down * kWinogradOutputs - dim(dims, "pad_top");
    const int64_t left = tile % across * kWinogradOutputs - dim(dims, "pad_left");
    RowSums sums(static_cast<size_t>(c));
    for (int64_t t = 0; t < kWinogradProducts; ++t) {
      const int64_t row = t / kWinogradInputs, column = t % kWinogradInputs;
      const int64_t iy = top + row, ix = left + column;
      const double factor =
          kWinogradB[i][static_cast<size_t>(row)] * kWinogradB[j][static_cast<size_t>(column)];
      if (factor == 0 || iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
      const double* pixel = x.data() + ((image * h + iy) * w + ix) * c;
      for (int64_t k = 0; k < c; ++k) sums.add(static_cast<size_t>(k), factor * pixel[k]);
    }
    sums.append_to(result);
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"winograd_in", roles, reference};

}  // namespace clvet::op_contract_winograd_in
