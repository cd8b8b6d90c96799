#include "reports/render/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

class Painter {
 public:
  explicit Painter(bool colours) : colours_(colours) {}
  std::string good(const std::string& text) const { return paint("32", text); }
  std::string bad(const std::string& text) const { return paint("31", text); }
  std::string strong(const std::string& text) const { return paint("1", text); }

 private:
  std::string paint(const char* code, const std::string& text) const {
    return colours_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  bool colours_;
};

std::string speed_of(const CombinationReport& row) {
  std::string text;
  for (const char* op : {"gemm", "gemv"}) {
    const auto found = row.speed.find(op);
    if (found != row.speed.end()) text += fmt::format("  {} {:.3g} GFLOP/s", op, found->second);
  }
  return text;
}

std::string combination_line(const CombinationReport& row, const Painter& paint) {
  const std::string name = fmt::format("{:<28}", to_string(row.combination));
  switch (row.status) {
    case CombinationStatus::kPass:
      return fmt::format("    {} {}{}\n", paint.good("right      "), name, speed_of(row));
    case CombinationStatus::kUnsupported:
      return {};
    default: {
      const std::string word = fmt::format("{:<11}", to_string(row.status));
      return fmt::format("    {} {} {} of {} cases right\n", paint.bad(word), name, row.passed,
                         row.planned);
    }
  }
}

// The combinations that were not tried, the same reason told once.
std::string unsupported_lines(const DeviceReport& device) {
  std::map<std::string, int> reasons;
  for (const CombinationReport& row : device.combinations) {
    if (row.combination.memory && row.status == CombinationStatus::kUnsupported)
      ++reasons[row.reason];
  }
  std::string text;
  for (const auto& [reason, count] : reasons) {
    text += fmt::format("    unsupported {} combinations: {}\n", count, reason);
  }
  return text;
}

struct Failures {
  int cases = 0;
  std::set<std::string> kernels;
  std::string example;
};

std::string event_of(const VerdictReport& row) {
  const int signal = row.evidence.signal;
  return fmt::format("{} in {}", to_string(row.verdict), to_string(row.stage)) +
         (signal ? fmt::format(" (signal {})", signal) : "");
}

std::string first_words(const Evidence& evidence) {
  const std::string_view said =
      trim(!evidence.stderr_text.empty() ? evidence.stderr_text : evidence.log);
  const std::string_view first = said.substr(0, said.find('\n'));
  return shorten(first.empty() ? evidence.note : std::string(first), 160);
}

// What failed and why, the same failure told once.
std::string failure_lines(const Report& report, const std::string& device, const Painter& paint) {
  std::map<std::string, Failures> groups;
  for (const VerdictReport& row : report.verdicts) {
    if (row.device != device || row.verdict == Verdict::kPass ||
        row.verdict == Verdict::kUnsupported) {
      continue;
    }
    Failures& group = groups[event_of(row)];
    ++group.cases;
    group.kernels.insert(fmt::format("{}/{}", row.kernel, to_string(row.combination)));
    if (group.example.empty()) group.example = first_words(row.evidence);
  }
  std::string text;
  for (const auto& [why, group] : groups) {
    text += fmt::format("    {}: {} cases of {} variants, e.g. {}\n", paint.bad(why), group.cases,
                        group.kernels.size(), *group.kernels.begin());
    if (!group.example.empty()) text += fmt::format("      {}\n", group.example);
  }
  return text;
}

std::string device_block(const Report& report, const DeviceReport& device, const Painter& paint) {
  std::string text = fmt::format("{} {} ({}, {}, {})\n", device.id, paint.strong(device.name),
                                 device.platform, device.type, device.driver);
  text += fmt::format("  through {}{}\n", device.library,
                      device.also_via.empty()
                          ? ""
                          : fmt::format("; also via {}", fmt::join(device.also_via, ", ")));
  if (device.best) {
    text += fmt::format("  best: {} ({})\n", paint.good(describe(device.best->combination)),
                        device.best->why);
  } else {
    text += "  best: " + paint.bad("no combination is wholly right") + "\n";
  }
  for (const CombinationReport& row : device.combinations) {
    if (row.combination.memory) text += combination_line(row, paint);
  }
  text += unsupported_lines(device);
  for (const auto& [name, found] : device.capabilities) {
    if (found.verdict != CapabilityVerdict::kTrue) {
      text +=
          fmt::format("    {} {}: {}\n", name, paint.bad(to_string(found.verdict)), found.evidence);
    }
  }
  return text + failure_lines(report, device.id, paint);
}

std::string candidate_lines(const Report& report) {
  std::string text;
  for (const CandidateReport& row : report.candidates) {
    if (row.outcome == CandidateOutcome::kAbsent) continue;
    text += fmt::format("  {} ({}): {}{}\n", row.name, to_string(row.origin),
                        to_string(row.outcome), row.reason.empty() ? "" : " - " + row.reason);
  }
  for (const IcdFileReport& row : report.icd_files) {
    for (const IcdFault& fault : row.faults)
      text += fmt::format("  {}: {}\n", row.path, fault.text);
  }
  return text;
}

std::string what_was_tried(const Report& report) {
  const std::string candidates = candidate_lines(report);
  return candidates.empty() ? "  No library of any known name exists; install the board's OpenCL "
                              "driver, or pocl-opencl-icd for the CPU.\n"
                            : candidates;
}

std::string died_lines(const Report& report, const Painter& paint) {
  std::string text;
  for (const CandidateReport& row : report.candidates) {
    const bool died = row.outcome == CandidateOutcome::kCrash ||
                      row.outcome == CandidateOutcome::kHang ||
                      row.outcome == CandidateOutcome::kExited;
    if (died)
      text += fmt::format("{} {}: {}\n", row.name, paint.bad(to_string(row.outcome)), row.reason);
  }
  return text;
}

std::string run_lines(const Report& report) {
  const RunReport& run = report.run;
  std::string counts;
  for (const auto& [word, count] : run.counts) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, word);
  }
  const double outside = run.wall_s > 0 ? 100 * (1 - run.driver_s / run.wall_s) : 0;
  return fmt::format("{} cases: {}\n", run.cases, counts) +
         fmt::format(
             "{:.1f} s, of which {:.0f} % outside driver calls; {} attempts, {} synced records{}\n",
             run.wall_s, std::max(0.0, outside), run.attempts, run.synced_records,
             report.complete          ? ""
             : run.only_cases.empty() ? "; INCOMPLETE"
                                      : "; only the cases asked for");
}

// The first fix of each advice; known issues are counted, since a driver may have dozens.
std::string advice_lines(const Report& report, const Painter& paint) {
  std::string text;
  int known = 0;
  for (const AdviceReport& row : report.advice) {
    if (row.lang != "en" || row.fixes.empty()) continue;
    if (row.id.starts_with("known-")) {
      ++known;
    } else {
      text += fmt::format("{} {}: {}\n", paint.strong("advice"), row.cause, row.fixes.front());
    }
  }
  if (known > 0) {
    text += fmt::format("{} known issue{} may concern this driver; 'clvet report html' lists {}\n",
                        known, known == 1 ? "" : "s", known == 1 ? "it" : "them");
  }
  return text;
}

}  // namespace

std::string describe(const Combination& combination) {
  std::string text = fmt::format("precision {}", to_string(combination.precision));
  if (combination.memory) text += fmt::format(", memory {}", to_string(*combination.memory));
  text += fmt::format(", activations {}", to_string(combination.activations));
  if (combination.weights) text += fmt::format(", weights {}", to_string(*combination.weights));
  return text;
}

std::string summary_text(const Report& report, bool colours) {
  const Painter paint(colours);
  if (report.devices.empty()) return "No OpenCL device was found.\n" + what_was_tried(report);
  std::string text;
  for (const DeviceReport& device : report.devices) text += device_block(report, device, paint);
  return text + died_lines(report, paint) + advice_lines(report, paint) + run_lines(report);
}

}  // namespace clvet
