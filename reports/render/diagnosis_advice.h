// What a diagnosis advises for other engines, as text.
#pragma once

#include <string>

#include "runtime/precision/diagnosis.h"
#include "runtime/precision/engine_advice.h"

namespace clvet {

// "ONNX Runtime: these nodes alone"
std::string advice_title(const EngineAdvice& advice);
// In the language of this process.
const std::string& advice_words(const EngineAdvice& advice);

// Lines; empty where there is no advice.
std::string advice_text(const PrecisionPlan& plan);

}  // namespace clvet
