#include "runtime/run/profile.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/kernel_time.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/node_times.h"

namespace clvet {
namespace {

void add_work(const PlanStep& step, const VariantTable& table, const CostModel& cost,
              ProfiledStep& row) {
  const TableRow* known = table.find(step.variant);
  const OpContract* contract = find_op_contract(step.op);
  if (!known || !contract) return;
  const auto roles = contract->roles(step.dims);
  if (!roles) return;
  const CallWork work = work_of(step.op, step.dims, *roles, known->variant.precision,
                                known->variant.weight_type.value_or(WeightType::kFloat));
  row.flops = work.flops;
  row.bytes = work.bytes;
  row.bound_ms = cost.bound_ms(work);
}

ProfiledStep row_of(const PlanStep& step, const Session& session, const VariantTable& table,
                    const CostModel& cost) {
  ProfiledStep row;
  row.kind = step.kind;
  row.variant = step.variant;
  row.op = step.op;
  if (step.node >= 0) {
    const Node& node = session.graph().nodes[static_cast<size_t>(step.node)];
    row.name = node.name;
    row.op = node.op;
  }
  if (step.kind == StepKind::kKernel) add_work(step, table, cost, row);
  if (step.tensor >= 0) {
    const DeviceTensor& tensor = session.plan().tensors[static_cast<size_t>(step.tensor)];
    row.name = tensor.value;
    row.bytes = static_cast<double>(device_bytes(tensor));
  }
  return row;
}

}  // namespace

Result<Profile> profile_of(Session& session, const std::map<std::string, Tensor>& inputs,
                           bool on_processor, const CostModel& cost) {
  CLVET_ASSIGN_OR_RETURN(const auto table, VariantTable::embedded());
  CLVET_ASSIGN_OR_RETURN(const NodeTimes times, usual_times(session, inputs, on_processor));
  Profile profile;
  const std::vector<PlanStep>& steps = session.plan().phases.front().steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    profile.push_back(row_of(steps[i], session, *table, cost));
    profile.back().ms = times.steps[i];
  }
  return profile;
}

}  // namespace clvet
