// What `clvet bench` measures: `clvet.bench/1`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/profile.h"

namespace clvet {

struct Measurement {
  std::string name;                // "run" of a network; "prompt" and "token" of a language model
  int64_t tokens = 0;              // that one sample takes; 0: of a network
  std::vector<double> samples_ms;  // in the order in which they were taken
};

struct BenchInput {
  std::string name;
  TensorType type;
};

struct BenchRecord {
  std::string model, format, device;  // format: "onnx", "gguf"; device: its name, or "host"
  Combination combination;
  int threads = 0;
  int warm_up = 0, repeat = 0;  // that were asked for
  bool random = false;          // inputs or prompt are random numbers of `seed`
  uint64_t seed = 0;
  bool interrupted = false;
  double load_ms = 0;
  std::vector<BenchInput> inputs;  // of a network
  std::vector<Measurement> measurements;
  std::optional<Profile> profile;  // of a network, where it was wanted
  std::vector<std::string> warnings;
};

// Tokens a second at the mean; 0: of a network, or nothing was measured.
double tokens_a_second(const Measurement& measurement);

std::string bench_record_to_json(const BenchRecord& record);
// A header and one line a measurement, as RFC 4180 has it; what was not measured is empty.
std::string bench_record_to_csv(const BenchRecord& record);

}  // namespace clvet
