#include "probe/report/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "probe/report/report.h"
#include "probe/report/summary.h"

namespace clvet {
namespace {

std::vector<VerdictReport> verdicts_of(const Report& report, const DeviceReport& device) {
  std::vector<VerdictReport> rows;
  for (const VerdictReport& row : report.verdicts) {
    if (row.device == device.id) rows.push_back(row);
  }
  return rows;
}

bool is_missing(const VerdictReport& row) { return row.verdict == Verdict::kMissing; }

bool same_device(const DeviceReport& a, const DeviceReport& b) {
  return a.library == b.library && a.platform == b.platform && a.name == b.name &&
         a.driver == b.driver;
}

void rename(const std::string& id, VerdictReport& row) {
  row.device = id;
  row.id = id + "/" + row.case_name;
}

// The verdicts that `device` misses and that were reached under the same driver.
bool fill_verdicts(const Report& known, const DeviceReport& from, Report& found,
                   DeviceReport& device) {
  std::map<std::string, VerdictReport> rows;
  for (VerdictReport& row : verdicts_of(known, from)) {
    if (!is_missing(row)) rows.emplace(row.variant_key + row.case_name, std::move(row));
  }
  bool filled = false;
  for (VerdictReport& row : found.verdicts) {
    if (row.device != device.id || !is_missing(row)) continue;
    const auto known_row = rows.find(row.variant_key + row.case_name);
    if (known_row == rows.end()) continue;
    const bool trial_only = row.trial_only;
    row = known_row->second;
    row.trial_only = trial_only;
    rename(device.id, row);
    filled = true;
  }
  if (!device.peaks.launch_us && from.peaks.launch_us) device.peaks = from.peaks;
  if (filled) summarise_device(verdicts_of(found, device), device);
  return filled;
}

void add_device(const Report& known, const DeviceReport& from, Report& found) {
  const auto same = std::find_if(found.devices.begin(), found.devices.end(),
                                 [&](const DeviceReport& row) { return same_device(row, from); });
  DeviceReport device = from;
  device.id = same == found.devices.end() ? fmt::format("d{}", found.devices.size()) : same->id;
  std::erase_if(found.verdicts, [&](const VerdictReport& row) { return row.device == device.id; });
  for (VerdictReport& row : verdicts_of(known, from)) {
    rename(device.id, row);
    found.verdicts.push_back(std::move(row));
  }
  if (same == found.devices.end()) {
    found.devices.push_back(std::move(device));
  } else {
    *same = std::move(device);
  }
}

void add_candidates(const Report& known, Report& found) {
  std::vector<CandidateReport> rows = known.candidates;
  for (CandidateReport& row : found.candidates) {
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const auto& old) { return old.name == row.name; });
    if (same == rows.end()) {
      rows.push_back(std::move(row));
    } else {
      *same = std::move(row);
    }
  }
  found.candidates = std::move(rows);
  if (found.loader.path.empty()) found.loader = known.loader;
}

bool reached(const Report& found, const DeviceReport& device) {
  return std::any_of(found.verdicts.begin(), found.verdicts.end(), [&](const VerdictReport& row) {
    return row.device == device.id && !is_missing(row) && row.verdict != Verdict::kUnsupported;
  });
}

void count_again(Report& found) {
  found.run.cases = static_cast<int>(found.verdicts.size());
  found.run.counts.clear();
  for (const VerdictReport& row : found.verdicts) ++found.run.counts[to_string(row.verdict)];
}

bool add_devices(const Report& known, const DeviceStands& stands,
                 const std::set<std::string>& there, Report& found) {
  bool added = false;
  for (const DeviceReport& device : known.devices) {
    if (there.contains(device.environment_key) || !stands(device)) continue;
    add_device(known, device, found);
    added = true;
  }
  if (added) add_candidates(known, found);
  return added;
}

}  // namespace

bool add_known(const Report& known, bool narrowed, const DeviceStands& stands, Report& found) {
  const bool alike = known.kernel_set == found.kernel_set && known.run.only_cases.empty() &&
                     found.run.only_cases.empty();
  if (!alike) return false;
  const bool complete = found.complete;
  bool added = false;
  std::set<std::string> there;
  for (DeviceReport& device : found.devices) {
    const auto from = std::find_if(
        known.devices.begin(), known.devices.end(),
        [&](const DeviceReport& row) { return row.environment_key == device.environment_key; });
    if (from != known.devices.end()) added |= fill_verdicts(known, *from, found, device);
    if (from != known.devices.end() || reached(found, device)) there.insert(device.environment_key);
  }
  if (narrowed) added |= add_devices(known, stands, there, found);
  if (!added) return false;
  count_again(found);
  found.complete = (complete || known.complete) && !found.run.counts.contains("missing");
  return true;
}

}  // namespace clvet
