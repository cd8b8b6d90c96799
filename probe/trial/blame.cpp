#include "probe/trial/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr const char* kAnyKernel = "";

// After how many programs that end alike a construct is not tried any more, and after how many test
// shapes a program: a hang takes a minute, a crash a second.
struct Patience {
  Verdict verdict;
  size_t programs, shapes;
};
constexpr std::array kPatience{Patience{Verdict::kHang, 2, 2},
                               Patience{Verdict::kOutOfMemory, 3, 2},
                               Patience{Verdict::kCrash, 8, 4}};

const Patience* patience_with(Verdict verdict) {
  const auto found = std::find_if(kPatience.begin(), kPatience.end(),
                                  [&](const Patience& row) { return row.verdict == verdict; });
  return found == kPatience.end() ? nullptr : &*found;
}

// Wrong values are no end: the worker lived to give them.
bool came_through(Verdict verdict) {
  return verdict == Verdict::kPass || verdict == Verdict::kWrong ||
         verdict == Verdict::kNondeterministic;
}

// One word for ends that are alike. It begins with the verdict.
std::string signature_of(const VerdictReport& verdict) {
  return fmt::format("{} in {} (signal {})", to_string(verdict.verdict), to_string(verdict.stage),
                     verdict.evidence.signal);
}

const Patience& patience_for(const std::string& signature) {
  return *std::find_if(kPatience.begin(), kPatience.end(), [&](const Patience& row) {
    return signature.starts_with(to_string(row.verdict));
  });
}

}  // namespace

void Blame::note(const KernelMakeup& kernel, const VerdictReport& verdict) {
  const bool passed = came_through(verdict.verdict);
  if (!passed && !patience_with(verdict.verdict)) return;
  std::vector<std::string> words = kernel.constructs;
  if (passed || words.empty()) words.emplace_back(kAnyKernel);
  Record& own = of_programs_[kernel.program];
  own.passed |= passed;
  if (!passed) own.ends[signature_of(verdict)].insert(verdict.case_name);
  for (const std::string& word : words) {
    Record& record = of_constructs_[word];
    record.passed |= passed;
    if (!passed) record.ends[signature_of(verdict)].insert(kernel.program);
  }
}

void Blame::note_canary(CapabilityVerdict verdict, const VerdictReport& end) {
  canary_right_ = verdict == CapabilityVerdict::kTrue;
  if (patience_with(end.verdict)) note({{}, "canary"}, end);
}

bool Blame::suspects(const KernelMakeup& kernel) const {
  return std::any_of(kernel.constructs.begin(), kernel.constructs.end(), [&](const auto& word) {
    const auto found = of_constructs_.find(word);
    return found != of_constructs_.end() && !found->second.passed;
  });
}

std::string Blame::worn_out(const std::string& construct, int patience) const {
  const auto found = of_constructs_.find(construct);
  if (found == of_constructs_.end() || found->second.passed) return {};
  for (const auto& [signature, programs] : found->second.ends) {
    const size_t most = patience_for(signature).programs * static_cast<size_t>(patience);
    if (programs.size() < most) continue;
    return construct.empty()
               ? fmt::format(
                     "not tried: {} kernels without a special construct ended alike, with "
                     "{}, and none came through",
                     programs.size(), signature)
               : fmt::format(
                     "not tried: {} kernels with {} ended alike, with {}, and none came through",
                     programs.size(), construct, signature);
  }
  return {};
}

std::string Blame::why_not(const KernelMakeup& kernel) const {
  if (const auto own = of_programs_.find(kernel.program);
      own != of_programs_.end() && !own->second.passed) {
    for (const auto& [signature, cases] : own->second.ends) {
      if (cases.size() < patience_for(signature).shapes) continue;
      return fmt::format("not tried: this program ended alike on {} test shapes, with {}",
                         cases.size(), signature);
    }
  }
  for (const std::string& word : kernel.constructs) {
    if (std::string why = worn_out(word, 1); !why.empty()) return why;
  }
  return worn_out(kAnyKernel, canary_right_ ? 2 : 1);
}

}  // namespace clvet
