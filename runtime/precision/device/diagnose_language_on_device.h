// Finds the calls of a language model that low precision breaks on a device. Single calls cannot be
// raised there: the search for them is emulated on the host; what can is the exact scale of the
// residual stream, which is tried on the device.
#pragma once

#include <vector>

#include "base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/llm_config.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/diagnose_on_device.h"
#include "runtime/precision/diagnose_language.h"
#include "runtime/precision/diagnose_model.h"

namespace clvet {

// As diagnose_on_device() and diagnose_language().
Result<DeviceDiagnosis> diagnose_language_on_device(const GgufFile& file, const LlmConfig& config,
                                                    const std::vector<LanguageInput>& inputs,
                                                    const DiagnoseOptions& options,
                                                    const DeviceTarget& target);

}  // namespace clvet
