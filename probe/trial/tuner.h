// Kernels that can run the same call, timed in turn with each other in a worker: numbers first,
// then rounds.
//
// Each candidate is a trial of its own at the call's own shape, judged as the probe's trials are;
// only what is right is timed. What a round leaves in the outputs must be what the trial left. A
// candidate that ends or hangs its worker is out with that verdict, and the others go on in a new
// worker.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "probe/trial/lane.h"
#include "probe/trial/material.h"
#include "probe/trial/rounds.h"
#include "probe/worker/device_route.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

struct RivalKernels {
  TestShape shape;                // its name seeds the inputs
  std::vector<Variant> variants;  // the first is what would run anyway: it is timed in each round
  std::vector<std::shared_ptr<const Program>> programs;  // of the variants
  std::vector<TimesByRound> earlier;  // of the variants, in a sitting before; or empty
  double seconds = 0;  // after that much time no round begins; the least number of rounds is made
};

struct RivalTimes {
  Verdict verdict = Verdict::kMissing;  // kMissing: there was no time
  std::string note;                     // what is wrong
  TimesByRound ms;                      // of a launch among others, in earlier sittings, too
  RoundTimes times;                     // the sum of them
  bool behind = false;                  // clearly: it was left out of further rounds
  bool far_behind = false;              // so far that two rounds were enough
};

// Rounds at most, where it is not plain after kEnoughRounds which candidate is fastest, and those
// between two looks: who looks after each of them sees a winner too often.
inline constexpr int kMostRounds = 201, kMoreRounds = 40;

class Tuner {
 public:
  // `scratch`: a folder that this tuner owns. The deadline of `worker` ends all calls.
  static Result<Tuner> create(const WorkerSettings& worker, const DeviceRoute& route,
                              const DeviceReport& device, const std::string& stage_path,
                              std::string scratch);
  // One row for each variant. kUnavailable: the device cannot be opened. kInternal: the fault is
  // clvet's or the machine's.
  Result<std::vector<RivalTimes>> measure(const RivalKernels& rivals);
  // By the deadline or the user.
  bool stopped() const { return stopped_; }
  // Ends the worker, and removes its folder.
  void clear() { lane_.clear(); }

 private:
  struct Rival {
    TrialCase trial;
    std::shared_ptr<const Material> material;
    PreparedTrial prepared;
    std::vector<Mapping> outputs;
    int worker = 0;    // in which it is kept; 0: in none
    int launches = 0;  // of a round; 0: not known yet
    RivalTimes found;
    bool running() const { return found.verdict == Verdict::kPass && !found.behind; }
  };
  Tuner(const WorkerSettings& worker, const DeviceRoute& route, const DeviceReport& device,
        Lane lane)
      : settings_(worker), route_(route), device_(&device), lane_(std::move(lane)) {}
  Status ensure_worker();
  Outcome ask(const nlohmann::json& request, const std::vector<int>& fds = {});
  Result<Rival> prepare(const RivalKernels& rivals, size_t index, MaterialStore& materials);
  Status try_one(Rival& rival, int slot);
  Status judge_outcome(const Outcome& outcome, Rival& rival);
  Status run_round(Rival& rival, int slot, int round);
  Status run_rounds(const RivalKernels& rivals, std::vector<Rival>& all);
  void summarise(std::vector<double> ms, Rival& rival) const;
  static void leave_out(std::vector<Rival>& all);
  static std::vector<std::vector<double>> times_of(const std::vector<Rival>& all);
  static bool may_change(const std::vector<Rival>& all);

  WorkerSettings settings_;
  DeviceRoute route_;
  const DeviceReport* device_;
  Lane lane_;
  int workers_ = 0;
  bool stopped_ = false;
};

}  // namespace clvet
