#include "runtime/ops/support/extremes.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

Extremes extremes(Steps& s, const Term& x, int64_t axis, bool least, bool last) {
  Shape along(x.shape().size(), 1);
  const int64_t extent = along[static_cast<size_t>(axis)] = x.shape()[static_cast<size_t>(axis)];
  std::vector<float> ranks;
  for (int64_t i = 0; i < extent; ++i)
    ranks.push_back(static_cast<float>(last ? i + 1 : extent - i));
  const Term top = s.reduced(least ? "ReduceMin" : "ReduceMax", x, {axis});
  const Term is_nan = s.one("Sub", {number(1), s.one("IsEqual", {x, x})});
  const Term hit = s.one("Max", {s.one("IsEqual", {x, top}), is_nan});
  const Term rank = constant_term(Tensor::from(along, std::span<const float>(ranks)));
  Extremes found{s.one("Mul", {hit, rank}), {}};
  found.best = s.reduced("ReduceMax", found.ranks, {axis});
  return found;
}

}  // namespace clvet
