#include "runtime/plan/tuning.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/combination.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

// A tensor of it grows with the text.
bool grows(const ExecutionPlan& plan, const PlanStep& step) {
  return std::any_of(step.tensors.begin(), step.tensors.end(), [&](const auto& tensor) {
    return plan.tensors[static_cast<size_t>(tensor.second)].rows == TensorRows::kOfText;
  });
}

}  // namespace

std::vector<TunableCall> tunable_calls(const ExecutionPlan& plan, const VariantChooser& chooser,
                                       bool open_weights) {
  std::map<std::string, TunableCall> by_name;
  for (const PlanStep& step : plan.phases.front().steps) {
    const TableRow* row =
        step.kind == StepKind::kKernel ? chooser.table().find(step.variant) : nullptr;
    if (!row || grows(plan, step)) continue;
    const std::string name = name_of_call(step.op, step.dims, step.scalars, row->variant);
    TunableCall& call = by_name[name];
    if (call.steps++ == 0) {
      call.name = name;
      call.op = step.op;
      call.dims = step.dims;
      call.scalars = step.scalars;
      const WantedCall wanted{step.op,
                              step.dims,
                              step.scalars,
                              row->variant.combination(),
                              row->variant.weight_type.value_or(WeightType::kFloat),
                              open_weights};
      call.rows = chooser.rivals_of(wanted, *row);
    }
    call.ms += step.ms;
  }
  std::vector<TunableCall> calls;
  for (auto& [name, call] : by_name) {
    if (call.rows.size() > 1) calls.push_back(std::move(call));
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const TunableCall& a, const TunableCall& b) { return a.ms > b.ms; });
  return calls;
}

}  // namespace clvet
