// Rules that many ops share for the types of their outputs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

using Types = std::vector<TensorType>;

// The axes of input 1, which older models have as an attribute; none where neither is there.
Result<std::vector<int64_t>> axes_given(const OpCall& call);
// The one output has the first input's type.
Result<Types> infer_same(const OpCall& call);
// The output takes the broadcast shape of all inputs and the first one's type.
Result<Types> infer_broadcast(const OpCall& call);

}  // namespace clvet
