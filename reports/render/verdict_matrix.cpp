#include "reports/render/verdict_matrix.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/verdict_words.h"

namespace clvet {
namespace {

bool has_weights(const Combination& combination) {
  return combination.memory && combination.weights;
}

// A half-named combination is shown with those of operations without weights.
Combination column_of(const Combination& given) {
  return has_weights(given)
             ? given
             : Combination{given.precision, std::nullopt, given.activations, std::nullopt};
}

// Operations that have a failing kernel and more than one.
std::set<std::string> divided_ops(const Report& report, const std::string& device) {
  std::map<std::string, std::set<std::string>> kernels;
  std::set<std::string> failing;
  for (const VerdictReport& row : report.verdicts) {
    if (row.device != device) continue;
    kernels[row.op].insert(row.kernel);
    if (is_failure(row.verdict)) failing.insert(row.op);
  }
  std::erase_if(failing, [&](const std::string& op) { return kernels[op].size() < 2; });
  return failing;
}

// What the combinations' statuses count as failed.
class CountedCases {
 public:
  explicit CountedCases(const DeviceReport& device) {
    for (const CombinationReport& row : device.combinations) {
      names_[row.combination].insert(row.failed_cases.begin(), row.failed_cases.end());
    }
  }
  bool has(const VerdictReport& row) const {
    const auto found = names_.find(row.combination);
    return found != names_.end() && found->second.count(row.case_name) > 0;
  }

 private:
  std::map<Combination, std::set<std::string>> names_;
};

size_t gravity(Verdict verdict) {
  return static_cast<size_t>(&word_of(verdict) - verdict_words().data());
}

using Kind = std::tuple<size_t, Stage, int>;  // gravity, stage and signal
using Group = std::pair<std::string, Combination>;

std::map<Kind, std::map<Group, FailureGroup>> grouped_failures(const Report& report,
                                                               const DeviceReport& device) {
  const CountedCases counted(device);
  std::map<Kind, std::map<Group, FailureGroup>> found;
  for (const VerdictReport& row : report.verdicts) {
    if (row.device != device.id || !is_failure(row.verdict)) continue;
    FailureGroup& group = found[{gravity(row.verdict), row.stage, row.evidence.signal}]
                               [{row.kernel, row.combination}];
    group.kernel = row.kernel;
    group.combination = row.combination;
    group.trial_only = (group.cases.empty() || group.trial_only) && !counted.has(row);
    group.cases.push_back(&row);
  }
  return found;
}

}  // namespace

std::vector<MatrixRow> verdict_matrix(const Report& report, const DeviceReport& device) {
  const std::set<std::string> divided = divided_ops(report, device.id);
  std::map<std::pair<std::string, bool>, MatrixRow> rows;
  for (const VerdictReport& verdict : report.verdicts) {
    if (verdict.device != device.id) continue;
    const std::string& name = divided.count(verdict.op) ? verdict.kernel : verdict.op;
    const bool weights = has_weights(verdict.combination);
    MatrixRow& row = rows[{name, weights}];
    row.name = name;
    row.weights = weights;
    ++row.cells[column_of(verdict.combination)][verdict.verdict];
  }
  std::vector<MatrixRow> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

std::vector<FailureKind> failures(const Report& report, const DeviceReport& device) {
  std::vector<FailureKind> out;
  auto found = grouped_failures(report, device);
  for (auto& [kind, groups] : found) {
    const auto& [order, stage, signal] = kind;
    FailureKind& row =
        out.emplace_back(FailureKind{verdict_words()[order].verdict, stage, signal, 0, {}});
    for (auto& [key, group] : groups) {
      row.cases += group.cases.size();
      row.groups.push_back(std::move(group));
    }
  }
  return out;
}

std::map<std::string, int> untried(const Report& report, const DeviceReport& device) {
  std::map<std::string, int> reasons;
  for (const VerdictReport& row : report.verdicts) {
    if (row.device == device.id && row.verdict == Verdict::kUnsupported)
      ++reasons[row.evidence.note];
  }
  return reasons;
}

}  // namespace clvet
