#include "runtime/ops/support/spectrum.h"

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"

namespace clvet {

Status check_signal(const OpCall& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 2 || shape.back() < 1 || shape.back() > 2) return bad_shape(call, 0);
  return {};
}

Result<int64_t> bins_of(const OpCall& call, int64_t onesided, int64_t length, bool inverse) {
  if (!onesided) return length;
  if (call.shape(0).back() != 1 || inverse) return bad_attribute(call, "onesided", onesided);
  return length / 2 + 1;
}

Result<int64_t> positive_length(const OpCall& call, size_t i, int64_t fallback) {
  int64_t value = fallback;
  if (call.has(i)) {
    CLVET_ASSIGN_OR_RETURN(value, single_integer(call, i));
    if (value < 1) return bad_value(call, i, static_cast<double>(value));
  }
  if (value < 1) return bad_shape(call, 0);
  return value;
}

}  // namespace clvet
