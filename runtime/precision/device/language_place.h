// A language model on one device of a report, at a low precision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/device_decoder.h"
#include "runtime/exec/step_answer.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/logits.h"

namespace clvet {

// One decoder, with the residual stream at a scale (LlmConfig::residual_scale).
class DeviceText {
 public:
  // All must outlive it. kUnavailable: the device cannot run the model by these words.
  static Result<std::unique_ptr<DeviceText>> open(const GgufFile& file, const LlmConfig& config,
                                                  const DeviceTarget& target,
                                                  const PlanOverrides& words, OpenedDevice& opened);

  // Tokens one by one; `judge` has the logits behind each beside the emulation's float32. With
  // `seen`, each call is compared, too.
  using Seen = std::function<Status(const StepAnswer& answer, DecoderStep step)>;
  Status run(std::span<const int32_t> tokens, DecoderEmulation& exact, LogitsJudge& judge,
             const Seen& seen = nullptr);

  const ExecutionPlan& plan() const { return place_.plan; }
  const DeviceReport& device() const { return *place_.device; }
  double ms_of_a_token() const { return ms_; }  // of the last text, the median

 private:
  DeviceText(const GgufFile& file, const LlmConfig& config)
      : config_(config), weights_(file, config_) {}

  LlmConfig config_;
  LlmWeights weights_;
  PlannedDevice place_;
  std::unique_ptr<DeviceDecoder> decoder_;
  std::unique_ptr<HostDecoder> witness_;
  double ms_ = 0;
};

}  // namespace clvet
