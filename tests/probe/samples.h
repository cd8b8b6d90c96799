// Documents for tests: a report with every optional part present.
#pragma once

#include "probe/report/report.h"

namespace clvet::test {

VerdictReport sample_verdict(Verdict verdict = Verdict::kCrash);
DeviceReport sample_device();
// Of a board with that device and two of those verdicts.
Report sample_report();

}  // namespace clvet::test
