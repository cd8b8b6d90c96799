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
  double seconds = 0;  // after that much time no round begins; the least number of rounds is made
};

struct RivalTimes {
  Verdict verdict = Verdict::kMissing;  // kMissing: there was no time
  std::string note;                     // what is wrong
  TimesByRound ms;                      // of a launch among others
  bool behind = false;                  // clearly: it was left out of further rounds
  bool far_behind = false;              // so far that two rounds were enough
  bool running() const { return verdict == Verdict::kPass && !behind; }
};

// With what the others are compared: the first that is right and not behind; 0 where none is.
size_t reference_of(const std::vector<RivalTimes>& rivals);

class Tuner {
 public:
  // `scratch`: a folder that this tuner owns. The deadline of `worker` ends all calls.
  static Result<Tuner> create(const WorkerSettings& worker, const DeviceRoute& route,
                              const DeviceReport& device, const std::string& stage_path,
                              std::string scratch);
  // One sitting: kEnoughRounds rounds (probe/report/tuned.h), or fewer for want of time. `found`: a
  // row for each variant, with an error, too, as far as it came. kUnavailable: the device cannot be
  // opened. kInternal: the fault is clvet's or the machine's.
  Status measure(const RivalKernels& rivals, std::vector<RivalTimes>& found);
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
  };
  Tuner(const WorkerSettings& worker, const DeviceRoute& route, const DeviceReport& device,
        Lane lane)
      : settings_(worker), route_(route), device_(&device), lane_(std::move(lane)) {}
  Status ensure_worker();
  Outcome ask(const nlohmann::json& request, const std::vector<int>& fds = {});
  Result<Rival> prepare(const RivalKernels& rivals, size_t index, MaterialStore& materials);
  Status try_all(const RivalKernels& rivals, std::vector<Rival>& all,
                 std::vector<RivalTimes>& found);
  Status try_one(Rival& rival, int slot, RivalTimes& found);
  Status judge_outcome(const Outcome& outcome, Rival& rival, RivalTimes& found);
  Status run_round(Rival& rival, int slot, int round, RivalTimes& found);
  Status run_rounds(double seconds, std::vector<Rival>& all, std::vector<RivalTimes>& found);
  static void share_launches(size_t reference, std::vector<Rival>& all);
  void doubt(const std::vector<Rival>& all, std::vector<RivalTimes>& found) const;

  WorkerSettings settings_;
  DeviceRoute route_;
  const DeviceReport* device_;
  Lane lane_;
  int workers_ = 0;
  bool stopped_ = false;
};

}  // namespace clvet
