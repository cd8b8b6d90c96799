// Which calls of a plan `clvet tune` measures, and with which kernels. Pure.
#pragma once

#include <string>
#include <vector>

#include "kernels/contract.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct TunableCall {
  std::string name;  // name_of_call()
  std::string op;
  Dims dims;
  Scalars scalars;
  int steps = 0;  // of the plan that make it
  double ms = 0;  // predicted for all of them
  // Two at least; the first is what the plan has.
  std::vector<const TableRow*> rows;
};

// Each call of the plan once, that which takes most of the predicted time first. Of a language
// model the calls of a token whose extents do not depend on the text. `open_weights`: weights may
// lie in buffers or images.
std::vector<TunableCall> tunable_calls(const ExecutionPlan& plan, const VariantChooser& chooser,
                                       bool open_weights);

}  // namespace clvet
