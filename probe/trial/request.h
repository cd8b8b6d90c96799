// What the supervisor asks a worker to execute for one kernel case. Written by probe/trial/runner,
// read by probe/trial/execute; both of the same build, so this is no format that others depend on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/worker/device_route.h"

namespace clvet {

enum class MemoryUse { kIn, kOut };
enum class TexelType { kFloat, kHalf, kUint16, kInt32 };

// One memory object. It is surrounded by guard zones: `guard` bytes before and after a buffer,
// `guard_texels` columns and rows beyond an image. An output is prefilled with kSentinel, guards
// and all; an input's bytes bring their own guards.
struct MemoryRequest {
  MemoryUse use = MemoryUse::kIn;
  bool image = false;
  uint64_t bytes = 0;  // of the tensor alone
  int64_t width = 0, height = 0;
  TexelType texel = TexelType::kFloat;
  uint64_t guard = 0;
  int64_t guard_texels = 0;
  int fd = -1;  // index of the descriptor with the bytes; outputs: where they are to be written
  // Of an input: so many objects with the same bytes, which launches take turns with.
  int copies = 1;

  // Bytes of one reading of an output with its guards.
  uint64_t read_bytes() const;
};

struct ArgRequest {
  static constexpr int kScalar = -1, kNull = -2;
  int memory = kScalar;  // index of a memory object, or one of these
  bool is_float = false;
  int32_t int_value = 0;
  float float_value = 0;
};

struct TrialRequest {
  Program program;
  std::vector<MemoryRequest> memory;
  std::vector<ArgRequest> args;
  int work_dim = 1;
  std::array<size_t, 3> global{1, 1, 1}, local{0, 0, 0};
  int repeats = 2;            // launches whose outputs are read, each after a fresh sentinel
  double timing_seconds = 0;  // 0: not timed
  bool beside_idle = false;   // a kernel that does nothing is timed, too
  bool careful = false;
  bool build_only = false;      // the kernel is built and nothing is run
  bool release_program = true;  // afterwards; else it is kept for the next case of the variant
  int slot = -1;  // not negative: what came through is kept under that number for rounds

  // Of the outputs: after each repeat, and after the timed launches or a round.
  int readings() const { return repeats + (timing_seconds > 0 ? 1 : 0) + (slot >= 0 ? 1 : 0); }
};

// A few launches of what a trial has kept: ms of each, and the outputs as the last reading.
struct RoundRequest {
  int slot = 0;
  int launches = 1;
};

// NaN as float and as half, so that an output element that was never written is never right.
inline constexpr unsigned char kSentinel = 0xFE;

uint64_t texel_bytes(TexelType type);
// Lets no input have more copies than `most_bytes` hold, or one.
void limit_copies(TrialRequest& request, uint64_t most_bytes);
// Context and queue of `device`, which `route` reaches.
nlohmann::json open_message(const DeviceRoute& route, const DeviceReport& device);
nlohmann::json to_message(const TrialRequest& request);
TrialRequest trial_from_message(const nlohmann::json& message);
// A program that is kept for no trial any more.
nlohmann::json release_message(const Program& program);
nlohmann::json to_message(const RoundRequest& request);
// Everything that is kept goes; its programs stay for the next trials with a slot.
nlohmann::json drop_message();

}  // namespace clvet
