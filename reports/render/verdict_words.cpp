#include "reports/render/verdict_words.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr std::array<VerdictWord, 17> kWords{{
    {Verdict::kBoardReset, 'R', "dead", "the board restarted itself"},
    {Verdict::kDeviceLost, 'D', "dead", "the device does not answer any more"},
    {Verdict::kHang, 'H', "dead", "a driver call did not return"},
    {Verdict::kCrash, 'C', "dead", "the driver ended the process"},
    {Verdict::kOutOfMemory, 'M', "dead", "the driver used more memory than it may use"},
    {Verdict::kLie, 'Y', "false",
     "the driver reported success, but did not do what OpenCL requires"},
    {Verdict::kWrong, 'W', "false",
     "values are outside the error bound, or memory around them was overwritten"},
    {Verdict::kNondeterministic, 'N', "false", "the values change from run to run"},
    {Verdict::kLaunchError, 'L', "refused", "the driver refused to run the kernel"},
    {Verdict::kKernelCreateFailed, 'K', "refused",
     "the program was built, but the kernel could not be created"},
    {Verdict::kBuildError, 'B', "refused", "the driver's compiler rejected the source text"},
    {Verdict::kToolError, 'T', "open", "a fault of clvet, not of the driver"},
    {Verdict::kInterrupted, 'I', "dead", "the probe ended twice while this case was running"},
    {Verdict::kNotTried, 'X', "open",
     "not tried, because kernels of the same kind all ended their process in the same way"},
    {Verdict::kMissing, '?', "open", "planned, but the probe did not get that far"},
    {Verdict::kPass, 'P', "good", "every value is within its error bound"},
    {Verdict::kUnsupported, 'U', "none",
     "not tried, because the device does not advertise a feature that is needed"},
}};

}  // namespace

std::span<const VerdictWord> verdict_words() { return kWords; }

const VerdictWord& word_of(Verdict verdict) {
  return *std::find_if(kWords.begin(), kWords.end(),
                       [&](const VerdictWord& row) { return row.verdict == verdict; });
}

bool is_failure(Verdict verdict) {
  const std::string_view tone = word_of(verdict).tone;
  return tone != "good" && tone != "none" && verdict != Verdict::kMissing;
}

}  // namespace clvet
