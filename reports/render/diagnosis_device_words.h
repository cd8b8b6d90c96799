// The sentences of a diagnosis on a device: what it could not use, what else is right there, times.
#pragma once

#include <string>
#include <vector>

#include "runtime/precision/diagnosis.h"

namespace clvet {

// A sentence a line; none of a diagnosis on the host.
std::vector<std::string> device_words(const PrecisionDiagnosis& diagnosis);
// Why the diagnosis ended before its time; empty: it did not.
std::string stopped_words(const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
