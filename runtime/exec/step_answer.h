// What one step of a plan left, and what it should have.
#pragma once

#include <functional>
#include <string>

#include "runtime/graph/tensor.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct StepAnswer {
  std::string node;               // empty: a copy between storages or orders, or a hand-over
  const TableRow* row = nullptr;  // null: a hand-over
  std::string value;              // the model's name for it; empty: a hand-over
  const Tensor& device;
  const Tensor& host;  // of the same inputs, which are the device's own
  bool half = false;   // of the storage type
  // The largest step_part() of the model's tensors. A device at precision high does not round
  // floats of 16 bits; what the host gets of them to compute from is rounded.
  double step_part = 0;
  // Of a node that rounds to levels: how far two neighbouring ones are apart; 0: any other node.
  double step = 0;
  // Whether the float64 reference of the kernel's call allows what the device gave: sums and
  // functions whose digits cancel differ from the host's by more than a part of the result. Takes
  // long. Empty or false: it does not, or cannot be asked.
  std::function<bool()> right_by_reference = {};
};
using AnswerJudge = std::function<void(const StepAnswer&)>;

// Who compares the steps of a plan with the host.
struct Checker {
  AnswerJudge judge;
  // Seconds that the steps took, without their comparison. A driver may compile at a first launch:
  // that time does not belong to the check.
  double steps_s = 0;
};

}  // namespace clvet
