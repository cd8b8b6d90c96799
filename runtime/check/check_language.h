// A language model against a device: what `clvet generate` would choose there, and why.
#pragma once

#include "runtime/check/check_record.h"
#include "runtime/check/checked_device.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"

namespace clvet {

// `config` fits the file that `weights` are of.
DeviceCheck check_language(const LlmConfig& config, const LlmWeights& weights,
                           const CheckedDevice& device);

}  // namespace clvet
