// Choices of nodes tried on a model's inputs, each once: searches come back to choices that an
// earlier one has tried.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "base/result.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/rounding.h"

namespace clvet {

class Trials {
 public:
  // It must outlive the trials, and give the same answer each time.
  explicit Trials(DiagnosedModel& model) : model_(model) {}

  // Whether all of these inputs are right with the nodes raised. Among those of which that is not
  // known yet, the one that refused last is asked first: it most likely refuses again.
  Result<bool> cures(const Raised& raised, std::span<const size_t> inputs);
  // How right the input is.
  Result<DiagnosedInput> with(const Raised& raised, size_t input);

 private:
  Result<bool> ask(const Raised& raised, size_t input);

  DiagnosedModel& model_;
  std::map<std::pair<size_t, Raised>, bool> known_;
  std::map<size_t, std::pair<Raised, DiagnosedInput>> right_;  // by input: the last choice for it
  size_t refused_last_ = 0;
};

}  // namespace clvet
