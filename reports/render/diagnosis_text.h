// What `clvet diagnose` prints.
#pragma once

#include <string>

#include "runtime/precision/diagnosis.h"

namespace clvet {

std::string diagnosis_text(const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
