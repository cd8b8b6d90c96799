// What failed in use on this machine, kept in the state folder: a later start does not use it
// again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// $STATE/tombstones.json.
std::string tombstones_file(const std::string& state_dir);
// None where the file is missing or damaged.
std::vector<Tombstone> read_tombstones(const std::string& file);
// One row for each environment and variant.
Status add_tombstone(const std::string& file, const Tombstone& tombstone);

// Gives `report` those that hold for its devices: of their environment keys, and not older than the
// report, since a probe tries again what failed.
void bury(const std::vector<Tombstone>& tombstones, Report& report);

}  // namespace clvet
