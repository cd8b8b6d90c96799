#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_attention_rope {
namespace {

// rope (rope.cpp) of one token at position P, then attention (attention.cpp) of its queries over
// the caches k and v, whose row P is what rope makes: that row of the tensors k and v is not read.
// It is written to row P of new_k and new_v, which else keep what they held; whoever runs the op
// may give one buffer for k and new_k, and one for v and new_v. In float at every precision: only
// what is written is rounded.
constexpr const char* kRope = "rope";
constexpr const char* kAttention = "attention";

Dims with_one_row(Dims dims) {
  dims["M"] = 1;
  return dims;
}

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  const Dims one = with_one_row(dims);
  CLVET_ASSIGN_OR_RETURN(std::vector<TensorRole> turned, find_op_contract(kRope)->roles(one));
  CLVET_ASSIGN_OR_RETURN(const auto attended, find_op_contract(kAttention)->roles(one));
  std::vector<TensorRole> roles;
  for (const TensorRole& role : attended) {
    if (role.name == "k" || role.name == "v") roles.push_back(role);
  }
  for (TensorRole& role : turned) {
    if (role.name == "k" || role.name == "v") role.name = "new_" + role.name;
    roles.push_back(std::move(role));
  }
  return roles;
}

// The cache as `made` has its row P.
Values with_row(Values cache, const double* made, int64_t row, int64_t width) {
  std::copy_n(made + row * width, width, cache.begin() + row * width);
  return cache;
}

// Of each element of a query and of a key as it is turned: a score of D products moves by at most
// sqrt(2 D) of them times the root of its sum of squares, where attention itself counts
// 6 sqrt(D / 2).
double growth(const Dims& dims) {
  const double of_norm =
      dim_or(dims, "norm", 0) == 1 ? roundoffs_of_rms(static_cast<double>(dim(dims, "D"))) : 0;
  return 1 + 2 * (of_norm + 4) / 3;
}

ReferenceResult reference(const CallValues& values) {
  const Dims dims = with_one_row(values.dims);
  const int64_t width = dim(dims, "KV") * dim(dims, "D"), row = dim_or(dims, "P", 0);
  const int64_t asked = dim(dims, "H") * dim(dims, "D"), cache = dim(dims, "cap") * width;
  ReferenceResult turned =
      find_op_contract(kRope)->reference({dims, values.scalars, values.tensors});
  const double* made = turned.value.data();
  const auto tensor = [&](const char* name) { return values.tensors.find(name)->second; };
  const ReferenceResult attended =
      find_op_contract(kAttention)
          ->reference({dims,
                       values.scalars,
                       {{"q", Values(made, made + asked)},
                        {"k", with_row(tensor("k"), made + asked, row, width)},
                        {"v", with_row(tensor("v"), made + asked + cache, row, width)}}});
  std::ranges::copy(attended.value, turned.value.begin());
  std::ranges::copy(attended.sensitivity, turned.sensitivity.begin());
  std::ranges::transform(attended.functions, turned.functions.begin(),
                         [by = growth(dims)](double error) { return error * by; });
  return turned;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"attention_rope", roles, reference};

}  // namespace clvet::op_contract_attention_rope
