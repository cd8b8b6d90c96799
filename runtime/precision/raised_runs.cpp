#include "runtime/precision/raised_runs.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/rounding.h"

namespace clvet {

void RaisedRuns::offer(size_t input, const LowRun& run) {
  if (kept_.size() < kKept) kept_.push_back({input, run});
}

Result<std::map<std::string, Tensor>> RaisedRuns::run(size_t input,
                                                      const std::map<std::string, Tensor>& values,
                                                      const Raised& raised) {
  const auto first =
      static_cast<size_t>(std::find(raised.begin(), raised.end(), true) - raised.begin());
  LowRun run = begin(input, values, first);
  const size_t begun = run.next();
  while (!run.done()) {
    const size_t node = run.next();
    if (node == first && node > begun) keep(input, run);
    CLVET_RETURN_IF_ERROR(run.step(raised[node]));
  }
  return run.outputs();
}

// From the last node that a kept run of the input has reached, `first` at most.
LowRun RaisedRuns::begin(size_t input, const std::map<std::string, Tensor>& values, size_t first) {
  auto best = kept_.end();
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (kept->input != input || kept->run.next() > first) continue;
    if (best == kept_.end() || kept->run.next() > best->run.next()) best = kept;
  }
  if (best == kept_.end()) return {emulation_, values};
  kept_.splice(kept_.begin(), kept_, best);
  return best->run;
}

void RaisedRuns::keep(size_t input, const LowRun& run) {
  kept_.push_front({input, run});
  if (kept_.size() > kKept) kept_.pop_back();
}

}  // namespace clvet
