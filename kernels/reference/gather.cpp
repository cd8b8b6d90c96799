#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"

namespace clvet::op_contract_gather {
namespace {

// y[o, i, r] = x[o, index[i], r]: x has O * E * R rows of C values, y O * I * R. A number below 0
// counts from the end. A kernel never reads outside of x: a row whose number is less than -E or
// not less than E is zero. The rows of x are an image of W rows a line, those of y of OW.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"O", "E", "I", "R", "C", "W", "OW"};
  CLVET_RETURN_IF_ERROR(need_positive("gather", dims, names));
  const int64_t around = dim(dims, "O") * dim(dims, "R");
  const int64_t from = around * dim(dims, "E"), to = around * dim(dims, "I");
  const int64_t w = dim(dims, "W"), ow = dim(dims, "OW");
  if (from % w != 0 || to % ow != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "gather: {} input rows must fill lines of {}, and {} output rows lines of {}", from,
                w, to, ow);
  }
  const int64_t c = dim(dims, "C");
  TensorRole x{.name = "x", .kind = TensorKind::kInput, .h = from / w, .w = w, .c = c};
  TensorRole index{
      .name = "index", .kind = TensorKind::kIndices, .c = dim(dims, "I"), .extent = dim(dims, "E")};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .h = to / ow, .w = ow, .c = c};
  return std::vector<TensorRole>{x, index, y};
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const int64_t extent = dim(d, "E"), run = dim(d, "R") * dim(d, "C");
  const Values& x = values.tensors.find("x")->second;
  ReferenceResult result;
  for (int64_t o = 0; o < dim(d, "O"); ++o) {
    for (const double number : values.tensors.find("index")->second) {
      const double row = number < 0 ? number + static_cast<double>(extent) : number;
      const bool inside = row >= 0 && row < static_cast<double>(extent);
      const double* from = x.data() + (inside ? o * extent + static_cast<int64_t>(row) : 0) * run;
      if (inside) {
        result.value.insert(result.value.end(), from, from + run);
      } else {
        result.value.insert(result.value.end(), static_cast<size_t>(run), 0.0);
      }
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"gather", roles, reference};

}  // namespace clvet::op_contract_gather
