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
    {Verdict::kDeviceLost, 'D', "dead", "the device answers no more"},
    {Verdict::kHang, 'H', "dead", "a driver call never came back"},
    {Verdict::kCrash, 'C', "dead", "the process ended in a driver call"},
    {Verdict::kOutOfMemory, 'M', "dead", "the driver took more memory than it may"},
    {Verdict::kLie, 'Y', "false", "success reported, contract broken"},
    {Verdict::kWrong, 'W', "false",
     "values outside the error bound, or memory around them touched"},
    {Verdict::kNondeterministic, 'N', "false", "other values at each repeat"},
    {Verdict::kLaunchError, 'L', "refused", "the driver refused to run the kernel"},
    {Verdict::kKernelCreateFailed, 'K', "refused", "built, but the kernel could not be created"},
    {Verdict::kBuildError, 'B', "refused", "the driver's compiler refused the text"},
    {Verdict::kSlow, 'S', "slow", "right, but too slow to be of use"},
    {Verdict::kToolError, 'T', "open", "a fault of clvet, not of the driver"},
    {Verdict::kInterrupted, 'I', "open", "the probe was stopped meanwhile"},
    {Verdict::kMissing, '?', "open", "planned, not reached"},
    {Verdict::kPass, 'P', "good", "every value within its bound"},
    {Verdict::kUnsupported, 'U', "none", "a needed feature is not advertised, so not tried"},
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
