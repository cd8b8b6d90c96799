#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"
#include "kernels/winograd.h"

namespace clvet::op_contract_winograd_out {
namespace {

// The convolution's output, y = act(A m A' + bias) for the tile m of 4 x 4 products that are pixel
// (tile) of x[0] to x[15].
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "OH", "OW", "OC"};
  CLVET_RETURN_IF_ERROR(need_positive("winograd_out", dims, names));
  const int64_t n = dim(dims, "N"), oh = dim(dims, "OH"), ow = dim(dims, "OW");
  const int64_t oc = dim(dims, "OC");
  TensorRole x{.name = "x",
               .n = kWinogradProducts,
               .h = n * winograd_tiles(oh),
               .w = winograd_tiles(ow),
               .c = oc};
  TensorRole bias{.name = "bias", .kind = TensorKind::kVector, .c = oc};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .n = n, .h = oh, .w = ow, .c = oc};
  return std::vector<TensorRole>{x, bias, y};
}

ReferenceResult reference(const CallValues& values) {
  const Dims& dims = values.dims;
  const int64_t oh = dim(dims, "OH"), ow = dim(dims, "OW"), oc = dim(dims, "OC");
  const int64_t down = winograd_tiles(oh), across = winograd_tiles(ow);
  const int64_t n = dim(dims, "N"), tiles = n * down * across;
  const Values& x = values.tensors.find("x")->second;
  ReferenceResult result;
  result.reduction = 10;  // terms that A and A' do not make zero, and the bias
  for (int64_t pixel = 0; pixel < n * oh * ow; ++pixel) {
    const int64_t image = pixel / ow / oh, oy = pixel / ow % oh, ox = pixel % ow;
    const int64_t tile = (image * down + oy / kWinogradOutputs) * across + ox / kWinogradOutputs;
    const auto& rows = kWinogradA[static_cast<size_t>(oy % kWinogradOutputs)];
    const auto& columns = kWinogradA[static_cast<size_t>(ox % kWinogradOutputs)];
    RowSums sums(values.tensors.find("bias")->second);
    for (int64_t t = 0; t < kWinogradProducts; ++t) {
      const double factor = rows[static_cast<size_t>(t / kWinogradInputs)] *
                            columns[static_cast<size_t>(t % kWinogradInputs)];
      if (factor == 0) continue;
      const double* product = x.data() + (t * tiles + tile) * oc;
      for (int64_t k = 0; k < oc; ++k) sums.add(static_cast<size_t>(k), factor * product[k]);
    }
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"winograd_out", roles, reference};

}  // namespace clvet::op_contract_winograd_out
