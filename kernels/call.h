// Kernel-call data: everything an enqueue needs but the memory objects. Built here alone, so that a
// trial and a run enqueue the very same thing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"

namespace clvet {

struct CallArg {
  ArgKind kind = ArgKind::kInt;
  std::string name;                    // role name for tensors
  int32_t int_value = 0;               // kInt
  float float_value = 0.f;             // kFloat
  Storage storage = Storage::kBuffer;  // where a tensor or the weights lie; buffer for all others
  bool absent = false;                 // the kernel does not read it: a null pointer
};

struct KernelCall {
  std::vector<CallArg> args;  // in kernel argument order; kScales is left out for float weights
  int work_dim = 1;
  std::array<size_t, 3> global{1, 1, 1};  // a multiple of local where local is set
  std::array<size_t, 3> local{0, 0, 0};   // all zero: the driver chooses
};

// The role that an argument has in its op, of those that the op's contract gives; null where it is
// a number. Scales belong to the weights.
const TensorRole* role_of(std::span<const TensorRole> roles, const CallArg& arg);

// That the manifest's `where` holds for these dims. kUnsupported: a condition is zero;
// kInvalidArgument: one cannot be evaluated.
Status check_where(const Manifest& manifest, const Dims& dims);

// Evaluates a manifest's args and sizes for one call. kInvalidArgument: a name that neither dims,
// params nor scalars define; kUnsupported: a `where` expression is zero for these dims.
Result<KernelCall> make_call(const Variant& variant, const Dims& dims, const Scalars& scalars);

}  // namespace clvet
