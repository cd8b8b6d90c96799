// What earlier starts on this machine found out in use, kept in the state folder: which kernels are
// not trusted any more, which answers the host has confirmed, which start never came to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/cache/program_cache.h"
#include "runtime/exec/flight.h"
#include "runtime/plan/plan.h"
#include "runtime/run/doubt.h"

namespace clvet {

// How often answers of one plan are checked.
struct CheckRhythm {
  int64_t every = 1;  // inferences; a fault is found within so many
  int64_t since = 0;  // unchecked ones since the last check
  bool odd = false;   // the host's outputs look suspicious, too (doubt.h)
  double ms = 0;      // of the confirmed answer; 0: not known
  bool operator==(const CheckRhythm&) const = default;
};

// Of the time, for checks.
inline constexpr double kDefaultShare = 0.02;
// Whether the answer in hand is one to check: `rate` is the part that the user asked for; empty: as
// the rhythm says.
bool is_due(const CheckRhythm& rhythm, const std::optional<double>& rate);
// Whether an answer came in less than a quarter of the time of the confirmed one: a driver that
// skips launches is fast. A board whose clock rises costs one check.
bool is_too_fast(const CheckRhythm& rhythm, double ms);
// Inferences from one check to the next whose cost is `share` of the time.
int64_t inferences_between_checks(double check_ms, double inference_ms, double share);
// Of a plan whose answer was just confirmed: it took `ms`, and comparing its steps `checking_ms`
// more.
CheckRhythm rhythm_after_check(double ms, double checking_ms, bool odd);

class History {
 public:
  // Empty: nothing is known and nothing is kept.
  explicit History(std::string state_dir) : folder_(std::move(state_dir)) {}

  // Gives `report` what its devices are not trusted with and what `clvet tune` measured on them,
  // and learns from starts that ended within the driver.
  void tell(Report& report) const;
  // What a start that ended within the driver had in hand is not used by the ones to come: saved
  // binaries of programs, where it used such, else a kernel (a tombstone). False: the driver had no
  // part in its end, or it cannot be kept.
  bool learn_from(const FlightSnapshot& lost, Verdict verdict, const std::string& evidence) const;
  // Kept for the starts to come; all that was confirmed on the device counts no more.
  Status bury(const Tombstone& tombstone) const;

  // The binaries of programs that are kept for a device.
  ProgramCache programs(const DeviceReport& device) const;
  // Whether a start has died, or hung, on a device of `report`, which was told (tell).
  static bool saw_death(const Report& report);

  // The page for this process's calls of the driver; one without a file where none can be written.
  Flight flight(bool synced) const;

  // The name of a plan for what follows.
  static std::string key_of(const ExecutionPlan& plan);
  // Nothing: no answer of this plan was confirmed yet.
  std::optional<CheckRhythm> rhythm(const std::string& key) const;
  // By the names of plans.
  Status keep(const std::map<std::string, CheckRhythm>& rhythms,
              const std::string& environment_key) const;

  // The precision that a model needs on a device, where a lower one cannot hold its values.
  std::optional<Precision> needed_precision(const std::string& model,
                                            const std::string& environment_key) const;
  // What was found with raised nodes (below) counts no more.
  Status keep_precision(const std::string& model, const std::string& environment_key,
                        Precision precision) const;

  // A precision that holds a model's values on a device, but for single nodes that stay at high.
  struct MixedPrecision {
    Precision precision = Precision::kLow;
    std::set<std::string, std::less<>> raised;
    double residual_scale = 1;  // of a language model: LlmConfig::residual_scale
    bool faster = false;        // than what would be planned without it, as it was measured
  };
  std::optional<MixedPrecision> mixed_precision(const std::string& model,
                                                const std::string& environment_key) const;
  // What a start takes of both where the caller asked for `wanted` (nothing: for no precision).
  // Nothing: it goes on as it would.
  std::optional<MixedPrecision> known_precision(const std::string& model,
                                                const std::string& environment_key,
                                                std::optional<Precision> wanted) const;
  Status keep_mixed(const std::string& model, const std::string& environment_key,
                    const MixedPrecision& mixed) const;

 private:
  std::string checks_file() const { return folder_ + "/checks.json"; }
  std::string folder_;
};

Tombstone tombstone_of(const std::string& environment_key, const Fault& fault);

// What a failed call of the driver says, with what was in hand.
Fault fault_of(const FlightSnapshot& flight, const Error& error);
// Of a start that never came to its end; nothing where the driver had no part in it.
std::optional<Fault> fault_of(const FlightSnapshot& lost);

}  // namespace clvet
