// A kernel step of a plan as what is enqueued for it.
#pragma once

#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/contract.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct Launch {
  const TableRow* row = nullptr;
  KernelCall call;
  std::vector<TensorRole> roles;  // of the op's contract

  // The contract's role of an argument that is no scalar; nullptr where it has none.
};

// `dims` stand for the step's own (those of a language model depend on its rows). The table must
// outlive the launch. kInvalidArgument: the table has no such variant, or it does not take the
// call.
Result<Launch> launch_of(const VariantTable& table, const PlanStep& step, const Dims& dims);

}  // namespace clvet
