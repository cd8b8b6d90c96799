// A diagnosis as one HTML page for people: a single file that fetches nothing.
#pragma once

#include <string>

#include "runtime/precision/diagnosis.h"

namespace clvet {

// Verdicts, origins and cure in words; the network as a picture that its own scripts draw; the
// errors along its depth. Names of models and inputs are shown as text only.
std::string diagnosis_page(const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
