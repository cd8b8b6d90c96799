// Tries the cases of one device, one worker at a time, whatever the driver does.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "probe/trial/material.h"
#include "probe/worker/device_route.h"
#include "probe/worker/journal.h"
#include "probe/worker/stage_page.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

struct RunnerSettings {
  WorkerSettings worker;
  std::string scratch;        // folder for drivers' caches, emptied for each worker
  std::string stage_path;     // file of the stage page
  StageSnapshot left_behind;  // what an earlier session left in that file
  EventSink sink;
};

// Sums over everything a runner did.
struct RunnerTotals {
  double driver_seconds = 0;
  int attempts = 0;
};

class DeviceRunner {
 public:
  static Result<DeviceRunner> create(const RunnerSettings& settings, const DeviceRoute& route,
                                     DeviceReport& device);

  // Opens the device, runs canary and capability checks, fills the device's objects, variables,
  // environment key and capabilities. A device that cannot be opened is not an error: the reason is
  // kept, and every case gets it as its verdict.
  Status prepare();

  // Measures the device's peaks, then tries every case that the journal does not hold yet; those
  // that an earlier session left in flight come first. Returns one verdict a case, in the order of
  // `cases`; cases that the budget or an interrupt kept from being tried are `missing`.
  Result<std::vector<VerdictReport>> run(const std::vector<TrialCase>& cases, Journal& journal);

  const RunnerTotals& totals() const { return totals_; }
  bool stopped() const { return stopped_; }  // by budget or interrupt

 private:
  DeviceRunner(const RunnerSettings& settings, const DeviceRoute& route, DeviceReport& device)
      : settings_(settings), route_(route), device_(&device) {}
  Outcome ask(const nlohmann::json& request, const std::vector<int>& fds = {});
  bool ensure_worker();
  bool canary_lives();
  void check_canary();
  void check_map_read();
  Status measure_peaks(Journal& journal);
  void read_objects();
  void note_open_failure(const Outcome& outcome);
  Result<VerdictReport> try_case(const TrialCase& trial, Journal& journal, const std::string& key);
  Result<VerdictReport> attempt(const TrialCase& trial, bool careful);
  Result<VerdictReport> decide(const TrialCase& trial, Journal& journal);
  std::optional<VerdictReport> known_verdict(const TrialCase& trial);
  std::string key_of(const TrialCase& trial) const;
  void learn(const TrialCase& trial, const VerdictReport& verdict);
  VerdictReport device_failure(const TrialCase& trial) const;

  RunnerSettings settings_;
  DeviceRoute route_;
  DeviceReport* device_;
  std::unique_ptr<StageView> stage_;
  std::optional<Worker> worker_;
  MaterialStore materials_;
  std::map<std::string, VerdictReport> broken_programs_;  // variant key -> verdict of its build
  std::optional<VerdictReport> device_fault_;             // the device cannot be opened, or is lost
  RunnerTotals totals_;
  int open_failures_ = 0, canary_errors_ = 0, workers_ = 0;
  double slowest_build_ = 0;
  bool stopped_ = false;
  bool last_of_program_ = true;  // no later case uses the program of the one in hand
};

}  // namespace clvet
