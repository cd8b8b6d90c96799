#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/attention_heads.h"
#include "kernels/reference/matmul.h"
#include "kernels/reference/rough.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_attention_qkv {
namespace {

// What a layer of a language model does before it adds: rms_norm of a token's row x[K] with
// norm_scale, its product with w [K, N] (+ bias, where biased = 1), and attention_rope of that, the
// row of N = (H + 2 KV) D values, whose heads have no norm of their own. In float at every
// precision: only what is written is rounded.
constexpr const char* kRest = "attention_rope";

struct Shape {
  int64_t n, k;
  bool biased;
  explicit Shape(const Dims& dims)
      : n(dim(dims, "N")), k(dim(dims, "K")), biased(dim_or(dims, "biased", 0) == 1) {}
};

bool belongs_to_norm(const TensorRole& role) {
  return role.name == "q_scale" || role.name == "k_scale";
}

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "K"};
  CLVET_RETURN_IF_ERROR(need_positive("attention_qkv", dims, names));
  CLVET_ASSIGN_OR_RETURN(auto rest, find_op_contract(kRest)->roles(without_norms(dims)));
  const Shape at(dims);
  const HeadsShape heads(dims);
  const int64_t all = (heads.h + 2 * heads.kv) * heads.d;
  if (at.n != all) {
    return fail(ErrorCode::kInvalidArgument,
                "attention_qkv: N = {} is not (H + 2 KV) D = {}, the values of all heads", at.n,
                all);
  }
  std::vector<TensorRole> roles = matmul_roles(1, 1, at.n, at.k);
  roles.pop_back();
  roles.insert(roles.begin() + 1, {.name = "norm_scale", .kind = TensorKind::kVector, .c = at.k});
  for (TensorRole& role : rest) {
    if (role.name != "x" && !belongs_to_norm(role)) roles.push_back(std::move(role));
  }
  // Inputs come first.
  std::ranges::stable_sort(roles, {}, [](const TensorRole& role) {
    return role.kind == TensorKind::kInput ? 0 : role.kind == TensorKind::kOutput ? 2 : 1;
  });
  return roles;
}

// The heads before they turn.
Rough product_of(const CallValues& values, const Shape& at) {
  const auto tensor = [&](const char* name) -> const Values& {
    return values.tensors.find(name)->second;
  };
  const Values& x = tensor("x");
  const double epsilon = static_cast<float>(values.scalars.find("epsilon")->second);
  const Normed row = normed({x, Values(x.size(), 0)}, tensor("norm_scale").data(), epsilon);
  const double of_norm = roundoffs_of_rms(static_cast<double>(at.k));
  return product(row.row, tensor("w").data(), static_cast<size_t>(at.n),
                 at.biased ? tensor("bias").data() : nullptr, of_norm);
}

ReferenceResult reference(const CallValues& values) {
  return attend_heads(values, product_of(values, Shape(values.dims)));
}

}  // namespace

extern const OpContract def;
const OpContract def = {"attention_qkv", roles, reference};

}  // namespace clvet::op_contract_attention_qkv
