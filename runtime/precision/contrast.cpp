#include "runtime/precision/contrast.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/precision/diagnosis.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

void add(const ValueRange& range, bool right, RangeContrast& row) {
  if (right) {
    row.most_passing = std::max(row.most_passing, range.largest);
    row.passing.add(range);
    return;
  }
  const bool first = row.failing.count == 0;
  row.least_failing = first ? range.largest : std::min(row.least_failing, range.largest);
  row.failing.add(range);
}

}  // namespace

std::vector<RangeContrast> contrasts_of(std::span<const DiagnosedInput> inputs) {
  std::map<std::string, RangeContrast> rows;
  for (const DiagnosedInput& input : inputs)
    for (const auto& [name, range] : input.ranges)
      if (range.count > 0) add(range, input.right, rows[name]);
  std::vector<RangeContrast> contrasts;
  for (auto& [name, row] : rows) {
    if (row.failing.count == 0 || row.passing.count == 0) continue;
    row.value = name;
    contrasts.push_back(row);
  }
  return contrasts;
}

}  // namespace clvet
