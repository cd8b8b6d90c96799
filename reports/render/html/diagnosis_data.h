// What the scripts of a diagnosis' page read: no document for others, only between this and them.
#pragma once

#include <string>

#include "runtime/precision/diagnosis.h"

namespace clvet {

// JSON: `nodes` in order, the format's limits, names of inputs, and every word that the scripts
// show, in the language of the process. Its strings are valid UTF-8 and hold anybody's text.
std::string diagnosis_data(const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
