// What a caller says of how a network is to run.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/event.h"
#include "runtime/plan/plan.h"
#include "runtime/run/device_pool.h"

namespace clvet {

// Who answers while a device is made ready: nobody, so that all answers are the device's, or the
// host.
enum class Start { kDevice, kCpuFirst };
// "device", "cpu-first"
inline std::optional<Start> parse_start(std::string_view word) {
  if (word == "device") return Start::kDevice;
  if (word == "cpu-first") return Start::kCpuFirst;
  return std::nullopt;
}

struct NetworkOptions {
  std::string device = "auto";  // "auto", "host" or a selector of the report's devices
  PlanOverrides overrides;
  bool strict = false;           // no fallback
  Start start = Start::kDevice;  // of open_network()
  // Executes this plan (checked for this model and device) and does not plan anew.
  std::optional<ExecutionPlan> plan;
  // With device "auto" and no word of a combination given: a model's first run on a device is timed
  // against the host, the figures are kept in `state_dir` under `model_key`, and the faster one
  // serves. What is found out in use is kept there, too. Empty: nothing is kept, and the device
  // serves.
  std::string state_dir;
  bool compares_places = true;  // false: figures that were kept count, but nothing is timed
  std::string model_key;        // as read_keyed_onnx() gives it
  // The part of the answers that the host computes as well; empty: as many as take a fiftieth of
  // the time. The first one of a plan in an environment always is.
  std::optional<double> self_check;
  EventSink sink;
  // Where devices are opened; null: in a pool of the session's own.
  std::shared_ptr<DevicePool> devices;
  // Programs are saved before the second inference, and not by save_programs() alone: who has many
  // inferences may never come to an end of its own.
  bool saves_early = false;
  // While it is true, a run ends with kCancelled before its next step.
  std::shared_ptr<const std::atomic<bool>> cancelled;
};

}  // namespace clvet
