// What befell a network so far: one of it for all of its parts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probe/report/report.h"
#include "runtime/run/history.h"
#include "runtime/run/ladder.h"
#include "runtime/run/network_options.h"

namespace clvet {

struct Setbacks {
  // `report` may be null for the host, and must outlive it.
  Setbacks(const Report* report, const NetworkOptions& options)
      : history(options.state_dir), ladder(history, report, options.overrides, options.model_key) {}
  Setbacks(const Setbacks&) = delete;
  Setbacks& operator=(const Setbacks&) = delete;

  const History history;
  Ladder ladder;
  std::optional<std::string> given_up;  // why no device is asked any more
  std::vector<std::string> warnings;    // that were said
  // Devices, and places on them. A driver may die where it releases something: what was opened
  // stays.
  std::vector<std::shared_ptr<void>> left;
};

}  // namespace clvet
