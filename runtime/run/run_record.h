// The run record, `clvet.run/1`: what ran where, how long, which fallbacks were taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "runtime/decode/ctc.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/measured_times.h"

namespace clvet {

struct NodeRecord {
  std::string name, op;
  Place place = Place::kHost;  // never kAlias
  std::string kernel, variant_key, reason;
  double ms = 0;            // 0: not timed
  double predicted_ms = 0;  // 0: no prediction
};

struct OutputRecord {
  std::string name, dtype;
  Shape shape;
  std::string file;  // empty: not written
};

// Programs of a device: compiled by this process, and taken from saved binaries.
struct ProgramCounts {
  int compiled = 0, loaded = 0;
};

struct RunRecord {
  std::string model, device;  // device: its name, or "host"
  Combination combination;
  std::vector<NodeRecord> nodes;
  std::vector<Fallback> fallbacks;
  std::vector<RefusedCombination> refused;
  std::string not_best;  // why not the combination that the report calls best
  std::vector<std::string> warnings;
  double load_ms = 0, plan_ms = 0, build_ms = 0, first_ms = 0;
  ProgramCounts programs;
  std::vector<double> samples_ms;       // of the timed runs, in order; not in the document
  double min_ms = 0, median_ms = 0;     // 0: no run after the first was timed
  std::optional<MeasuredTimes> choice;  // where host and device were compared
  // Answers of the device up to the next one that the host confirms: a fault is found within so
  // many. 0: the host computed them.
  int64_t checked_every = 0;
  std::vector<OutputRecord> outputs;
  std::vector<DecodedText> texts;  // where decoding was asked for
};

std::string run_record_to_json(const RunRecord& record);

}  // namespace clvet
