// A report for a person at a terminal.
#pragma once

#include <string>

#include "kernels/combination.h"
#include "probe/report/report.h"

namespace clvet {

// "high/normal/buffer/image" spelt out: "precision high, memory normal, activations buffer, ...".
std::string describe(const Combination& combination);

// One block a device: its best combination, the speed beside each right one, what failed and why;
// then the counts. Where there is no device: each candidate that exists and why it gives none.
// With `colours`, ANSI colours.
std::string summary_text(const Report& report, bool colours);

}  // namespace clvet
