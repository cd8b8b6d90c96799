#include "kernels/contract.h"

#include <cstdint>
#include <string_view>
#include <vector>

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

double products_of_matrices(const std::vector<TensorRole>& roles) {
  double pixels = 0, weights = 0;
  int matrices = 0;
  for (const TensorRole& role : roles) {
    if (role.kind == TensorKind::kOutput && pixels == 0)
      pixels = static_cast<double>(role.n * role.h * role.w);
    if (role.kind != TensorKind::kWeights) continue;
    weights += static_cast<double>(role.elements());
    ++matrices;
  }
  return matrices > 1 ? pixels * weights : 0;
}

const OpContract* find_op_contract(std::string_view op) {
  for (const OpContract* contract : op_contracts()) {
    if (contract->op == op) return contract;
  }
  return nullptr;
}

}  // namespace clvet
