// The section of a diagnosis' page on what tells inputs that fail from those that pass.
#pragma once

#include "reports/render/html/builder.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

// Nothing where there is nothing to say.
void add_contrasts(Html& page, const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
