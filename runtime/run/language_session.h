// A language model where it runs best, and elsewhere once it fails there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/opened_device.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/token_feed.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/run/device_pool.h"
#include "runtime/run/doubting_decoder.h"
#include "runtime/run/history.h"
#include "runtime/run/ladder.h"

namespace clvet {

struct LanguageOptions {
  std::string device = "auto";  // "auto", "host" or a selector of the report's devices
  PlanOverrides words;
  bool strict = false;  // no fallback
  // Executes this plan (checked for this model and device) and does not plan anew.
  std::optional<ExecutionPlan> plan;
  std::string model_key;  // SHA-256 of the model's file
  std::string state_dir;  // what is found out in use is kept there; empty: nothing is
  // The part of the steps that the host computes as well; empty: as many as take a fiftieth of the
  // time. The first ones of a plan in an environment always are.
  std::optional<double> self_check;
  EventSink sink;
  // Where devices are opened; null: in a pool of the session's own.
  std::shared_ptr<DevicePool> devices;
  // While it is true, taking tokens ends with kCancelled before the next step.
  std::shared_ptr<const std::atomic<bool>> cancelled;
};

struct LaunchRecord {
  std::string name, op, kernel, variant_key;  // name: of the node; kernel: the variant's name
};

// What a run of a language model tells of itself.
struct LanguageRecord {
  std::string device;  // its name, or "host"
  Combination combination;
  std::vector<RefusedCombination> avoided;
  std::vector<std::string> warnings;
  std::vector<LaunchRecord> nodes;  // the launches of one token; none on the host
  int64_t device_bytes = 0;         // of the device's memory, at the start
  double load_ms = 0;
  // Tokens up to the next that the host confirms: a fault is found within so many. 0: the host
  // computes them.
  int64_t checked_every = 0;
};

class LanguageSession {
 public:
  // `file` and `report` must outlive it; `report` may be null for the host. Of several
  // devices the one with the fastest plan is taken. kUnavailable: strict,
  // and no device can run it; kNoDevice: no device of the report is the one asked for.
  static Result<std::unique_ptr<LanguageSession>> open(const GgufFile& file,
                                                       const LlmConfig& config,
                                                       const Report* report,
                                                       LanguageOptions options);

  // The logits behind the last of `tokens`, which go on from what was taken before; they stay until
  // the session is asked for something else. Where the device fails or the host finds a launch
  // wrong, all tokens are taken again without what was at fault, on the host in the end, which is
  // said.
  Result<std::span<const float>> take(std::span<const int32_t> tokens,
                                      const std::function<void(size_t)>& progress = nullptr);
  // While it is true, the next token is expected to be the one with the greatest logit: a device
  // may go on with it before it is asked. Whatever comes is answered right.
  void expect_greedy(bool greedy);
  // Milliseconds that the device works for one token more after what was taken, by its own clock;
  // takes that token. Errors: on the host, or where the driver keeps no times.
  Result<double> device_ms_of_a_token(int32_t token);
  // Keeps for the starts to come what was confirmed, and the programs that it was confirmed with.
  void note();
  // Forgets all text.
  void restart();
  int64_t position() const { return feed_->position(); }
  const LanguageRecord& record() const { return record_; }
  // The plan in use; empty of phases on the host.
  const ExecutionPlan& plan() const { return plan_; }

 private:
  LanguageSession(const GgufFile& file, const LlmConfig& config, LanguageOptions options)
      : config_(config),
        weights_(file, config_),
        options_(std::move(options)),
        history_(options_.state_dir) {
    if (!options_.devices) options_.devices = std::make_shared<DevicePool>();
  }
  struct Opened;
  Status open_device(PlannedDevice place);
  Status make_decoder(PlannedDevice place, Opened& opened);
  void tell_greedy(Device& device);  // whether the next token is expected to be the greatest
  Status open_somewhere(const Report* report);
  Status open_planned();  // kUnavailable: on no device
  // Words, and a scale of the residual stream, for what is known of the model on that device.
  // False: they are as they were.
  bool take_found(const std::string& environment_key, PlanOverrides& words);
  Status open_host();
  Result<std::span<const float>> take_now(std::span<const int32_t> tokens,
                                          const std::function<void(size_t)>& progress);
  // The next place to try, after a fault of the device.
  Status step_down(const std::string& evidence);
  void say_steps();
  void say_notes(OpenedDevice& place);
  bool leave_binaries(const std::string& evidence);
  void warn(const std::string& text);

  LlmConfig config_;  // with the plan's residual_scale
  LlmWeights weights_;
  LanguageOptions options_;
  LanguageRecord record_;
  const History history_;
  std::optional<Ladder> ladder_;        // where a device was hoped for
  const DeviceReport* used_ = nullptr;  // null: the host
  ExecutionPlan plan_;
  // A driver that failed is not asked to clean up: what was opened stays.
  struct Opened {
    std::shared_ptr<OpenedDevice> place;
    std::unique_ptr<DoubtingDecoder> decoder;
    ~Opened();  // at its turn on the device
  };
  std::vector<std::unique_ptr<Opened>> opened_;
  std::unique_ptr<HostDecoder> host_;
  DoubtingDecoder* on_device_ = nullptr;
  bool greedy_ = false;
  std::unique_ptr<TokenFeed> feed_;
  std::vector<int32_t> taken_;
};

}  // namespace clvet
