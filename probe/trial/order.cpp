#include "probe/trial/order.h"

#include <algorithm>
#include <vector>

#include "probe/known_issues/identity.h"
#include "probe/known_issues/known_issues.h"
#include "probe/trial/cases.h"

namespace clvet {

void put_suspects_last(const std::vector<KnownIssue>& issues, const DeviceFacts& device,
                       std::vector<TrialCase>& cases) {
  std::vector<const KnownIssue*> known;
  for (const KnownIssue& issue : issues) {
    if (issue.grade == "A" && !issue.constructs.empty() && match_issue(issue, device))
      known.push_back(&issue);
  }
  std::stable_partition(cases.begin(), cases.end(), [&](const TrialCase& trial) {
    return std::none_of(known.begin(), known.end(), [&](const KnownIssue* issue) {
      return concerns_trial(*issue, trial.variant.manifest->op, trial.program->constructs);
    });
  });
}

}  // namespace clvet
