#include "runtime/precision/trials.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/rounding.h"

namespace clvet {

Result<bool> Trials::cures(const Raised& raised, std::span<const size_t> inputs) {
  std::vector<size_t> open;
  for (const size_t input : inputs) {
    const auto known = known_.find({input, raised});
    if (known == known_.end()) open.push_back(input);
    if (known != known_.end() && !known->second) return false;
  }
  std::ranges::stable_partition(open, [this](size_t input) { return input == refused_last_; });
  for (const size_t input : open) {
    CLVET_ASSIGN_OR_RETURN(const bool cured, ask(raised, input));
    if (cured) continue;
    refused_last_ = input;
    return false;
  }
  return true;
}

Result<bool> Trials::ask(const Raised& raised, size_t input) {
  CLVET_ASSIGN_OR_RETURN(DiagnosedInput found, model_.with(raised, input, Detail::kWhetherRight));
  const bool right = found.right;
  known_[{input, raised}] = right;
  if (right) right_[input] = {raised, std::move(found)};
  return right;
}

Result<DiagnosedInput> Trials::with(const Raised& raised, size_t input) {
  const auto known = right_.find(input);
  if (known != right_.end() && known->second.first == raised) return known->second.second;
  return model_.with(raised, input, Detail::kWhole);
}

}  // namespace clvet
