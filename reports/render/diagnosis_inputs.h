// What a diagnosis says of the inputs that fail: sentences that its text and its page share.
#pragma once

#include <string>
#include <vector>

#include "runtime/precision/diagnosis.h"

namespace clvet {

// A sentence for each value: how those of inputs that fail differ from those of inputs that pass.
std::vector<std::string> contrast_words(const PrecisionDiagnosis& diagnosis);
// Whether normalising the input would cure it; none where that was no question.
std::vector<std::string> normalise_words(const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
