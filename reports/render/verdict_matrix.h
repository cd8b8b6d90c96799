// A device's verdicts put in order for a reader: operations against combinations, and failures
// gathered by kind. Pure; made from the report alone.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"

namespace clvet {

struct MatrixRow {
  std::string name;      // the operation; of an operation whose kernels fail, each kernel
  bool weights = false;  // its combinations name memory and storage of weights
  std::map<Combination, std::map<Verdict, int>> cells;
};

// Cases that failed in the same way, with one kernel at one combination.
struct FailureGroup {
  std::string kernel;
  Combination combination;
  // No combination's status counts it: tried because other engines use such kernels.
  bool trial_only = false;
  std::vector<const VerdictReport*> cases;
};

struct FailureKind {
  Verdict verdict;
  Stage stage;
  int signal;
  size_t cases = 0;
  std::vector<FailureGroup> groups;
};

// In order of name. Verdicts of other devices are left out.
std::vector<MatrixRow> verdict_matrix(const Report& report, const DeviceReport& device);

// The gravest first. They point into the report.
std::vector<FailureKind> failures(const Report& report, const DeviceReport& device);

// The reason why cases were not tried -> how many.
std::map<std::string, int> untried(const Report& report, const DeviceReport& device);

}  // namespace clvet
