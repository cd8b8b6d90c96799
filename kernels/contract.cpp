#include "kernels/contract.h"

#include <cstdint>
#include <string_view>

namespace clvet {

int64_t TensorRole::elements() const {
  switch (kind) {
    case TensorKind::kWeights:
      return n * taps * cin * cout;
    case TensorKind::kVector:
    case TensorKind::kIndices:
    case TensorKind::kState:
      return c;
    default:
      return n * h * w * c;
  }
}

const OpContract* find_op_contract(std::string_view op) {
  for (const OpContract* contract : op_contracts()) {
    if (contract->op == op) return contract;
  }
  return nullptr;
}

}  // namespace clvet
