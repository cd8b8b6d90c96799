#include "runtime/plan/launch.h"

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

Result<Launch> launch_of(const VariantTable& table, const PlanStep& step, const Dims& dims) {
  Launch launch;
  launch.row = table.find(step.variant);
  const OpContract* contract = find_op_contract(step.op);
  if (!launch.row || !contract || launch.row->variant.manifest->op != step.op) {
    return fail(ErrorCode::kInvalidArgument, "there is no kernel variant '{}' for {}", step.variant,
                step.op);
  }
  CLVET_ASSIGN_OR_RETURN(launch.roles, contract->roles(dims));
  CLVET_ASSIGN_OR_RETURN(launch.call, make_call(launch.row->variant, dims, step.scalars));
  return launch;
}

}  // namespace clvet
