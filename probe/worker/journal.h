// The journal of a probe: what was about to be tried, and what came of it.
//
// A line of JSON a record, appended. The record that begins an attempt is synced to disk before the
// attempt is made; the one that ends it is not (the next sync carries it). A begin without an end
// is the proof that something ended the probe, or the board, in between.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// What an earlier session left for one case.
// An interruption is an attempt that was begun and neither ended nor stopped: the probe or the
// machine went down while it ran.
struct JournalEntry {
  std::optional<VerdictReport> verdict;       // final
  int attempts = 0;                           // begun and ended without a final verdict
  std::optional<VerdictReport> last_attempt;  // what the last of those found
  bool in_flight = false;                     // begun and never ended
  int interruptions = 0;
  bool careful = false;  // begun with every stage synced
  std::string boot_id;   // of the boot in which it was begun
};

// True of the verdicts of a case that brought down the probe or the machine.
bool forbids_retry(Verdict verdict);

class Journal {
 public:
  // Opens or creates `path` under an exclusive lock. kBusy: another probe holds it, which is named;
  // kInvalidArgument: the file is not a journal of this kernel set (nothing is changed; `fresh`
  // starts over), or another user may write to it. A last line cut short by a crash is dropped.
  static Result<Journal> open(const std::string& path, const std::string& kernel_set, bool fresh);

  // Key of a case: it names environment, variant and case, so that nothing else can be mistaken for
  // it.
  static std::string key_of(const std::string& environment_key, const std::string& variant_key,
                            const std::string& case_id);

  const JournalEntry* find(const std::string& key) const;
  // Synced.
  Status begin(const std::string& key, int attempt, bool careful);
  // Not synced. `final` is false for an attempt that will be repeated.
  Status end(const std::string& key, const VerdictReport& verdict, bool final);
  // Not synced. An attempt that is in flight, or all of them, is no interruption: it came back
  // without its end being known yet, or this process ends it of its own will.
  void stop(const std::string& key);
  void stop();
  int synced_records() const { return synced_; }
  // The work is done, and the report is on disk: removes the file, but for the verdicts of cases
  // that brought the probe or the machine down (forbids_retry), which are not to be tried again.
  Status finish();

 private:
  Status append(const std::string& line);
  Status load(const std::string& text);
  Status start(const std::string& kernel_set);
  Status keep_only(const std::map<std::string, VerdictReport>& kept);
  std::string path_, boot_id_, header_;
  UniqueFd lock_, file_;
  std::map<std::string, JournalEntry> entries_;
  std::set<std::string> in_flight_;  // begun by this process and not ended
  int synced_ = 0;
};

}  // namespace clvet
