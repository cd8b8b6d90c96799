// What `clvet tune` did: `clvet.tune/1`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"

namespace clvet {

// A call of the model with the kernels that can run it.
struct TunedRow {
  TunedCall call;                  // the first of its variants is what would run untuned
  int steps = 0;                   // of a run that make it
  std::vector<std::string> notes;  // of its variants: what is wrong; empty: nothing
  std::vector<bool> behind;        // of its variants: clearly, so that it was left out
};

struct TuneRecord {
  std::string model, device, file;  // file: where the times are kept
  Combination combination;
  double seconds = 0;        // that it took
  double least_gain_ms = 0;  // of the device (probe/report/tuned.h)
  bool interrupted = false;
  int calls = 0;                // of the plan with more than one kernel to choose from
  std::vector<TunedRow> tuned;  // those that there was time for
};

// The variant that runs from now on: the fastest, where it beats the first (beats_tuned), else the
// first that is right. Null: none was timed.
const TunedVariant* winner_of(const TunedCall& call, double least_gain_ms);

// Milliseconds of a run that the calls take, as measured: untuned and tuned. Nothing: of no call.
struct TunedSum {
  double untuned_ms = 0, tuned_ms = 0;
};
std::optional<TunedSum> sum_of(const TuneRecord& record);

std::string tune_record_to_json(const TuneRecord& record);

}  // namespace clvet
