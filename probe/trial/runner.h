// Tries the cases of one device, whatever the driver does.
//
// Each case runs alone in the one worker that uses the device. Only the compilers of the next
// programs work side by side, in a lane each; a CPU's first launch compiles too, so there the first
// case of each program is run as well, and then those of its other cases that are not timed.
// Nothing is timed meanwhile.
//
// What disturbs a machine for a while doubles the times of the cases that fall into it. So a case
// that passed is timed a second time, after all that were begun together with it (seconds later),
// and the quicker times count.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/memory.h"
#include "base/result.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/trial/blame.h"
#include "probe/trial/cases.h"
#include "probe/trial/lane.h"
#include "probe/trial/material.h"
#include "probe/trial/memory_check.h"
#include "probe/worker/device_route.h"
#include "probe/worker/journal.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

struct RunnerSettings {
  WorkerSettings worker;
  std::string scratch;        // folder for drivers' caches, emptied for each worker
  std::string stage_path;     // file of the stage page; that of a further lane ends in its number
  int lanes = 1;              // programs that are built at once
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
  // kept, and every case gets it as its verdict; likewise one that twice brought down the probe or
  // the machine here. kInternal here and in run(): a worker cannot be started, or not do its part,
  // and the fault is clvet's or the machine's; nothing is laid at the driver's door then.
  Status prepare(Journal& journal);

  // Measures the device's peaks, then tries every case that the journal does not hold yet. What
  // holds a construct that only ended workers so far (Blame) comes late, those that were running
  // when an earlier session went down come last, and where that happened twice they are
  // `interrupted`. Returns one verdict a case, in the order of `cases`; cases that the budget or an
  // interrupt kept from being tried are `missing`.
  Result<std::vector<VerdictReport>> run(const std::vector<TrialCase>& cases, Journal& journal);

  const RunnerTotals& totals() const { return totals_; }
  bool stopped() const { return stopped_; }  // by budget or interrupt

 private:
  // The cases of one program.
  struct Group {
    const TrialCase* first = nullptr;  // of those that the device could run
    std::vector<size_t> cases;         // by their index
    std::optional<size_t> lane;        // where `first` was begun beside others
  };
  // A case in a worker's hands.
  struct Attempt {
    std::shared_ptr<const Material> material;
    PreparedTrial prepared;
    Outcome outcome;
  };
  // A case that waits to be timed a second time, and the lane that holds its program.
  struct Timed {
    size_t index;
    size_t lane;
  };
  // Groups that lanes take from as they come to it.
  struct Line {
    std::vector<Group*> groups;
    std::mutex mutex;  // of all that the runner holds, while several lanes are at work
    size_t next = 0;
    std::atomic<bool> closed = false;  // something went wrong: no more are begun
  };
  // So many are begun before their other cases follow: a lane that is done takes the next group and
  // does not wait for the others until there is none. A processor cannot be lost, as a GPU can with
  // all that was begun on it.
  size_t groups_in_lane() const;
  // How often a case was tried, and how.
  struct Tries {
    bool careful = false;
    int attempts = 0;
    bool confirmed = false;                // alone as in company
    std::optional<VerdictReport> earlier;  // of the attempt before
    bool again = false;                    // it has passed before, in the same company
  };
  DeviceRunner(const RunnerSettings& settings, const DeviceRoute& route, DeviceReport& device)
      : settings_(settings), route_(route), device_(&device) {}
  Lane& lane() { return lanes_[lane_]; }
  Outcome ask(const nlohmann::json& request, const std::vector<int>& fds = {});
  void give_up(const Error& error);
  Status own_state() const;
  void check_disk();
  void take_note(const Outcome& outcome);
  WorkerSettings worker_settings() const;
  Result<Outcome> open_device();
  bool ensure_worker();
  bool canary_lives();
  void examine();
  void refuse_device();
  void check_canary();
  void check_memory();
  static CapabilityReport judge_memory(const MemoryCheck& check, const Outcome& outcome);
  Status measure_peaks(Journal& journal);
  void read_objects();
  VerdictReport brought_down(const TrialCase& trial, const JournalEntry& past) const;
  Result<VerdictReport> try_once(const TrialCase& trial, const std::optional<VerdictReport>& ahead,
                                 Tries& tries);
  Result<VerdictReport> try_often_enough(const TrialCase& trial, Journal& journal,
                                         const std::string& key, Tries tries);
  Result<VerdictReport> try_case(const TrialCase& trial, Journal& journal, const std::string& key);
  bool is_last_of_program(const TrialCase& trial) const;
  Result<Attempt> prepare_attempt(const TrialCase& trial);
  Result<VerdictReport> attempt(const TrialCase& trial, bool careful);
  void note_build(const Outcome& outcome);
  std::vector<size_t> order_of(const std::vector<TrialCase>& cases, const Journal& journal) const;
  void note_last_uses(const std::vector<Group>& groups, const std::vector<TrialCase>& cases,
                      const Journal& journal);
  void learn_from(const Journal& journal, const std::vector<TrialCase>& cases);
  void put_in_order(std::span<Group> groups, const Journal& journal) const;
  Status try_group(const Group& group, const std::vector<TrialCase>& cases, Journal& journal,
                   std::vector<VerdictReport>& verdicts);
  // One program's cases that follow each other. On a processor those that are timed, which run when
  // all that was begun beside others has ended, are the last ones.
  std::vector<Group> groups_of(const std::vector<size_t>& order,
                               const std::vector<TrialCase>& cases) const;
  void open_lanes(size_t wanted);
  bool is_fresh(const TrialCase& trial, const Journal& journal);
  std::vector<Group*> next_to_begin(std::span<Group> groups, const Journal& journal);
  Result<Attempt> prepare_ahead(const TrialCase& trial);
  Group* take_group(Line& line, size_t lane);
  bool begins(const Group& group, const TrialCase& trial, const Journal& journal);
  // Images on a processor, in software.
  bool is_never_fast(const TrialCase& trial) const;
  // Not what took longer than a disturbance lasts, nor what no plan would choose for its speed.
  bool is_timed_again(const TrialCase& trial, const VerdictReport& verdict) const;
  bool wants_times(const Group& group, const std::vector<TrialCase>& cases) const;
  Status release_unwanted(const Group& group, const std::vector<TrialCase>& cases, Journal& journal,
                          std::vector<VerdictReport>& verdicts);
  void prepare(std::span<const TrialCase* const> wanted);
  void keep(const TrialCase& trial, Attempt made);
  void take_kept(const TrialCase& trial);
  void note_last_times(const std::vector<Timed>& timed, const std::vector<TrialCase>& cases);
  void prepare_again(std::span<const Timed> part, const std::vector<TrialCase>& cases);
  Status time_once_more(const TrialCase& trial, Journal& journal, VerdictReport& verdict);
  Status time_again(const std::vector<TrialCase>& cases, Journal& journal,
                    std::vector<VerdictReport>& verdicts);
  Result<std::optional<Attempt>> take_case(Line& line, const Group& group, const TrialCase& trial,
                                           Journal& journal);
  Status note_begun(Line& line, const Group& group, const TrialCase& trial, const Outcome& outcome,
                    std::optional<VerdictReport> verdict, Journal& journal);
  Status begin_group(Line& line, const Group& group, const std::vector<TrialCase>& cases,
                     Journal& journal);
  Status begin_in_lane(Line& line, size_t lane, const std::vector<TrialCase>& cases,
                       Journal& journal);
  Status begin_together(std::span<Group> groups, const std::vector<TrialCase>& cases,
                        Journal& journal);
  Status choose_lane(std::span<Group> groups, const std::vector<TrialCase>& cases,
                     Journal& journal);
  void prepare_together(std::span<const Group> groups, const std::vector<TrialCase>& cases,
                        const Journal& journal);
  bool may_be_of_company(const VerdictReport& found, bool beside);
  Result<VerdictReport> attempt_alone(const TrialCase& trial, const VerdictReport& found,
                                      bool& confirmed);
  void keep_one_lane();
  std::optional<VerdictReport> verdict_ahead(const TrialCase& trial, const Attempt& made) const;
  std::optional<VerdictReport> past_verdict(const TrialCase& trial, const Journal& journal) const;
  Result<VerdictReport> decide(const TrialCase& trial, Journal& journal);
  std::optional<VerdictReport> known_verdict(const TrialCase& trial);
  std::string key_of(const TrialCase& trial) const;
  void learn(const TrialCase& trial, const VerdictReport& verdict);
  void lose_device(const std::string& id, const VerdictReport& verdict);
  VerdictReport device_failure(const TrialCase& trial) const;

  RunnerSettings settings_;
  DeviceRoute route_;
  DeviceReport* device_;
  std::vector<Lane> lanes_;
  size_t lane_ = 0;  // of the case in hand
  std::unique_ptr<MaterialStore> materials_ = std::make_unique<MaterialStore>();
  std::map<std::string, VerdictReport> broken_programs_;  // variant key -> verdict of its build
  std::set<const TrialCase*> last_uses_;  // the last cases to be tried of each group
  Blame blame_;
  int done_ = 0;                               // cases
  std::optional<VerdictReport> device_fault_;  // the device cannot be opened, or is lost
  std::string lost_by_;                        // the case that lost the device
  // Cases begun beside others, by their id, that have not passed, with the verdict where one was
  // found.
  std::map<std::string, std::optional<VerdictReport>> begun_;
  static constexpr size_t kPreparedCases = 12;    // at once
  std::map<const TrialCase*, Attempt> prepared_;  // the next cases to be timed
  std::vector<Timed> timed_;                      // in the order in which they were
  std::map<const TrialCase*, Attempt> kept_;      // of these, as many as there is room for
  uint64_t most_kept_ = share_of_memory(64, uint64_t{64} << 20, uint64_t{512} << 20);  // bytes
  bool answered_ = false;  // the device did since the last ones were begun beside others
  RunnerTotals totals_;
  int open_failures_ = 0, canary_errors_ = 0;
  double slowest_build_ = 0;
  bool company_cleared_ = false;  // a case failed beside another process, and alone just the same
  bool stopped_ = false;
  std::optional<Error> own_fault_;  // then it is stopped as well
};

}  // namespace clvet
