// The page that tells which driver call is in flight. The worker writes it before every call, the
// supervisor reads it after the worker's death; it lies in a file, so that it survives both.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// Laid out for sharing between processes of the same build; every field is untrusted on reading.
struct StagePage {
  static constexpr uint32_t kMagic = 0x63767370;
  uint32_t magic;
  std::atomic<uint32_t> sequence;     // counts stage changes
  std::atomic<int32_t> stage;         // Stage, or -1 outside of any driver call
  std::atomic<uint32_t> build_clock;  // 1: this enqueue or finish may compile
  char call[64];                      // the OpenCL call, for people
  std::atomic<int64_t> entered_ns;    // CLOCK_MONOTONIC
  std::atomic<int64_t> driver_ns;     // time spent in finished driver calls since the worker began
};

struct StageSnapshot {
  std::optional<Stage> stage;  // empty outside of any call
  std::string call;
  uint32_t sequence = 0;
  bool build_clock = false;
  double entered = 0;         // monotonic seconds
  double driver_seconds = 0;  // finished calls only
};

// Supervisor side: a page in `path` (replaced), for the worker to inherit by descriptor.
class StageView {
 public:
  static Result<StageView> create(const std::string& path);
  // The same without a file, for workers whose death nobody asks about later.
  static Result<StageView> anonymous();
  StageSnapshot read() const;
  void reset();
  int fd() const { return fd_.get(); }
  // The last stage that a file left by an earlier supervisor holds; empty where there is none.
  static StageSnapshot left_behind(const std::string& path);

 private:
  UniqueFd fd_;
  Mapping mapping_;
};

// Worker side. `enter` marks the start of a driver call; its end is the end of the scope's life.
class StageMarker {
 public:
  static Status attach(int fd);
  // With `careful`, each stage is synced to disk before the call is made.
  static void set_careful(bool careful);
  StageMarker(Stage stage, const char* call, bool may_compile = false);
  ~StageMarker();
  StageMarker(const StageMarker&) = delete;
  StageMarker& operator=(const StageMarker&) = delete;
};

}  // namespace clvet
