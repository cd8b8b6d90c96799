#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/attention_scores.h"

namespace clvet::op_contract_attention {
namespace {

// Row m of q holds H query heads of D values, at position P + m; row j of the caches k and v holds
// KV heads of position j. Query head h uses cache head h / (H / KV): with s[j] = scale * q . k[j],
// y = sum of softmax(s)[j] * v[j] over positions j from 0, or from P + m - window + 1 where window
// is not 0, to P + m. Rows of the caches from P + M on are not read. In float at every precision. D
// is a multiple of 4 and at most 256.
struct Shape {
  int64_t m, h, kv, d, cap, p, window;
  explicit Shape(const Dims& dims)
      : m(dim(dims, "M")),
        h(dim(dims, "H")),
        kv(dim(dims, "KV")),
        d(dim(dims, "D")),
        cap(dim(dims, "cap")),
        p(dim_or(dims, "P", 0)),
        window(dim_or(dims, "window", 0)) {}
};

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"M", "H", "KV", "D", "cap"};
  CLVET_RETURN_IF_ERROR(need_positive("attention", dims, names));
  const Shape at(dims);
  if (at.h % at.kv != 0 || at.d % 4 != 0 || at.d > 256) {
    return fail(
        ErrorCode::kInvalidArgument,
        "attention: H = {} must be a multiple of KV = {}, and D = {} a multiple of 4 up to 256",
        at.h, at.kv, at.d);
  }
  if (at.p < 0 || at.p > at.cap - at.m || at.window < 0) {
    return fail(ErrorCode::kInvalidArgument,
                "attention: rows {} to {} must lie in the cache of {} rows, and window = {} must "
                "not be negative",
                at.p, at.p + at.m, at.cap, at.window);
  }
  const auto rows = [](const char* name, TensorKind kind, int64_t h, int64_t c) {
    return TensorRole{.name = name, .kind = kind, .h = h, .c = c};
  };
  return std::vector<TensorRole>{rows("q", TensorKind::kInput, at.m, at.h * at.d),
                                 rows("k", TensorKind::kInput, at.cap, at.kv * at.d),
                                 rows("v", TensorKind::kInput, at.cap, at.kv * at.d),
                                 rows("y", TensorKind::kOutput, at.m, at.h * at.d)};
}

// An error of score j moves y by p[j] * (v[j] - y) of it. An exp is good to 6 roundoffs, its
// argument to as many as it is away from 0, and an online softmax may round both several times. The
// sums of weights and of weighted values are walks.
void attend(std::span<const double> q, const Seen& seen, double scale, ReferenceResult& result) {
  const std::vector<Score> scores = scores_of(q, seen, scale);
  const double largest = largest_of(scores);
  const Values weights = softmax(scores, largest);
  const double walk = 6 * std::sqrt(static_cast<double>(seen.count) / 2) + 16;
  for (size_t c = 0; c < q.size(); ++c) {
    const double* v = seen.v + c;
    double y = 0, squares = 0, moved = 0;
    for (int64_t j = 0; j < seen.count; ++j) {
      const double term = weights[static_cast<size_t>(j)] * v[j * seen.pitch];
      y += term;
      squares += term * term;
    }
    for (size_t j = 0; j < weights.size(); ++j) {
      const double error = scores[j].error + 16 + 4 * (largest - scores[j].value);
      moved += weights[j] * std::fabs(v[static_cast<int64_t>(j) * seen.pitch] - y) * error;
    }
    result.value.push_back(y);
    result.functions.push_back(moved + walk * (std::sqrt(squares) + std::fabs(y)));
    result.sensitivity.push_back(2);
  }
}

ReferenceResult reference(const CallValues& values) {
  const Shape at(values.dims);
  const double scale = static_cast<float>(values.scalars.find("scale")->second);
  const Values& q = values.tensors.find("q")->second;
  const double* k = values.tensors.find("k")->second.data();
  const double* v = values.tensors.find("v")->second.data();
  ReferenceResult result;
  result.in_float = true;
  result.reduction = 1;
  for (int64_t m = 0; m < at.m; ++m) {
    const int64_t last = at.p + m;
    const int64_t first = at.window > 0 ? std::max<int64_t>(0, last - at.window + 1) : 0;
    result.reduction = std::max(result.reduction, 2 * (last + 1 - first));
    for (int64_t h = 0; h < at.h; ++h) {
      const int64_t start = (first * at.kv + h / (at.h / at.kv)) * at.d;
      const Seen seen{k + start, v + start, last + 1 - first, at.kv * at.d};
      const auto own = std::span(q).subspan(static_cast<size_t>((m * at.h + h) * at.d),
                                            static_cast<size_t>(at.d));
      attend(own, seen, scale, result);
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"attention", roles, reference};

}  // namespace clvet::op_contract_attention
