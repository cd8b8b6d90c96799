// What `clvet tune` measured on this machine or took from another one of the same environment:
// `clvet.tuned/1`, one small document of the state folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// $STATE/tuned.json.
std::string tuned_file(const std::string& state_dir);

// The most that a document may hold.
inline constexpr size_t kMostTunedBytes = size_t{4} << 20;
inline constexpr size_t kMostTunedCalls = 1500;

struct TunedDocument {
  std::vector<TunedCall> calls;
  std::vector<std::string> faults;  // a sentence for each row that is not believed
};

// kInvalidArgument: the text is no such document; the message begins with `source`. Rows with a
// value of a wrong type, a time that is not positive and finite, or a word that is not known are
// left out.
Result<TunedDocument> parse_tuned(const std::string& text, const std::string& source);
// Empty where there is no file. kInvalidArgument: another user may have written it, or as above.
Result<TunedDocument> read_tuned(const std::string& file);
// The same document again.
std::string tuned_to_json(const std::vector<TunedCall>& calls);

// Rounds of the call's fewest that count: of the kernels that were right, the first.
int rounds_of(const TunedCall& call);
// Rounds that tell which kernel is fastest where that is plain.
inline constexpr int kEnoughRounds = 41;
// Milliseconds that a launch has to gain. In a network each launch finds the code of other kernels
// in a processor's caches, and another kernel is more of it; in rounds each finds its own. A
// MobileNet with kernels that had gained 0.1 to 0.9 us each in rounds took 1 us more for each.
double least_gain_ms(bool is_processor);
// Whether `one` takes the place of `other`: it is likely to be faster, and by enough to matter.
bool beats_tuned(const TunedVariant& one, const TunedVariant& other, double least_gain_ms);
// Whether more rounds would tell: `one` may be faster by a hundredth, and is not so beyond the
// error of both medians.
bool may_beat_tuned(const TunedVariant& one, const TunedVariant& other);
// Of one call: that with more rounds, where those beyond kEnoughRounds do not count; of equals the
// later. A verdict that is not a pass stays with its kernel, whichever is kept.
TunedCall merge_calls(const TunedCall& kept, const TunedCall& added);

// Merges the calls into the file; no other process writes meanwhile. `replace`: they were measured
// here now, and take the place of what was there. A file that is no such document is kept under its
// name with ".damaged". Beyond kMostTunedCalls the oldest go.
Status keep_tuned(const std::string& file, const std::vector<TunedCall>& calls, bool replace);

// Removes the file; that there is none is no error.
Status clear_tuned(const std::string& file);

// Gives `report` the calls of its devices.
void add_tuned(std::vector<TunedCall> calls, Report& report);

}  // namespace clvet
