// The epilogue of a reference: activation, and what it does to the error bound.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "kernels/contract.h"

namespace clvet {

struct Epilogue {
  Act act = Act::kNone;
  double lo = 0, hi = 0;
};

// The epilogue of a call: dim "act" (absent: none), scalars "act_lo" and "act_hi" (absent: 0). The
// scalars are rounded to float, as the kernel receives them. Of another activation of the call
// these names begin with `stem`.
Epilogue epilogue_of(const CallValues& values, std::string_view stem = "");

// Largest |f'| on [z - spread, z + spread]; `spread` is what rounding may have moved z by.
double act_sensitivity(const Epilogue& epilogue, double z, double spread);

// Turns result.value from z into act(z) and fills sensitivity and functions. The spread is that of
// half arithmetic: too wide for float arithmetic only near a kink, where it does no harm.
void apply_epilogue(const Epilogue& epilogue, ReferenceResult& result);

// A positive dim; kInvalidArgument names the op and the dim otherwise.
Status need_positive(std::string_view op, const Dims& dims, std::span<const char* const> names);
// A dim that need not be positive; `otherwise` where it is absent.
int64_t dim_or(const Dims& dims, std::string_view name, int64_t otherwise);
// A dim that roles() has already checked.
int64_t dim(const Dims& dims, std::string_view name);

}  // namespace clvet
