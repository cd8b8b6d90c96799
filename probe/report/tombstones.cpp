#include "probe/report/tombstones.h"

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "base/row_file.h"
#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr size_t kMostRows = 200;

RowFile rows_of(const std::string& file) { return {file, "clvet.tombstones/1", kMostRows}; }

Tombstone tombstone_of(const nlohmann::json& row) {
  return {.environment_key = row_text(row, "environment_key"),
          .variant = clean_utf8(row_text(row, "variant")),
          .verdict = parse_verdict(row_text(row, "verdict")).value_or(Verdict::kWrong),
          .stage = parse_stage(row_text(row, "stage")).value_or(Stage::kFinish),
          .evidence = clean_utf8(row_text(row, "evidence")),
          .date = clean_utf8(row_text(row, "date"))};
}

}  // namespace

std::string tombstones_file(const std::string& state_dir) { return state_dir + "/tombstones.json"; }

std::vector<Tombstone> read_tombstones(const std::string& file) {
  std::vector<Tombstone> out;
  for (const auto& [name, row] : rows_of(file).read()) out.push_back(tombstone_of(row));
  return out;
}

Status add_tombstone(const std::string& file, const Tombstone& tombstone) {
  return rows_of(file).change([&](RowFile::Rows& rows) {
    rows[tombstone.environment_key + " " + tombstone.variant] = {
        {"environment_key", tombstone.environment_key},
        {"variant", tombstone.variant},
        {"verdict", to_string(tombstone.verdict)},
        {"stage", to_string(tombstone.stage)},
        {"evidence", clean_utf8(tombstone.evidence)},
        {"date", tombstone.date},
        {"at", seconds_of_today()}};
  });
}

void bury(const std::vector<Tombstone>& tombstones, Report& report) {
  for (const Tombstone& row : tombstones) {
    if (row.date < report.created) continue;
    for (DeviceReport& device : report.devices) {
      if (device.environment_key != row.environment_key) continue;
      report.tombstones.push_back(row);
      if (row.variant == kMapReads)
        device.capabilities[kMapReads].verdict = CapabilityVerdict::kWrong;
      break;
    }
  }
}

}  // namespace clvet
