// The cheapest nodes to raise to float32 so that a model's outputs are right.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/precision/origin.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/wiring.h"

namespace clvet {

struct RaiseProblem {
  const Wiring& wiring;
  std::span<const Suspicion> suspicions;
  // How much error each node adds alone, for where no suspicion helps.
  std::vector<double> parts;
  // Whether the outputs are right.
  std::function<Result<bool>(const Raised&)> cures;
  // In milliseconds. More nodes may cost less: casts fall away between them, and some devices are
  // faster at float32. No node is raised for that.
  std::function<double(const Raised&)> cost;
  // Of a model with many nodes cures() is asked so often at most; what is found until then is kept.
  int most_trials = 200;
};

struct RaisePlan {
  Raised raised;
  int trials = 0;
  bool smallest = false;  // no part of it cures
};

// Of few nodes, of all choices without a part that cures the cheapest. Of many, the cheapest near
// the suspicions. Raises all nodes where nothing less was found to help.
Result<RaisePlan> cheapest_raise(const RaiseProblem& problem);

}  // namespace clvet
