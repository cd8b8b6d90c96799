// The section of a diagnosis' page that advises for other engines.
#pragma once

#include "reports/render/html/builder.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

// Nothing where there is no advice.
void add_advice(Html& page, const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
