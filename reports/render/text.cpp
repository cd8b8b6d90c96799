#include "reports/render/text.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/language.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "probe/diagnose/packages.h"
#include "probe/report/report.h"
#include "reports/render/shown.h"

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
    if (found != row.speed.end())
      text += fmt::format("  {} {} GFLOP/s", op, three_digits(found->second));
  }
  return text;
}

std::string combination_line(const CombinationReport& row, const Painter& paint) {
  const std::string name = fmt::format("{:<28}", to_string(row.combination));
  switch (row.status) {
    case CombinationStatus::kPass:
      return fmt::format("    {} {}{}\n", paint.good(fmt::format("{:<11}", tr("right"))), name,
                         speed_of(row));
    case CombinationStatus::kUnsupported:
      return {};
    default: {
      const std::string word = fmt::format("{:<11}", shown(row.status));
      return fmt::format("    {} {} {}\n", paint.bad(word), name,
                         tr("{} of {} cases right", row.passed, row.planned));
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
    text += tr("    not tried   {} combinations: {}", count, translated(reason)) + "\n";
  }
  return text;
}

struct Failures {
  int cases = 0;
  std::set<std::string> kernels;
  std::string example;
};

std::string first_words(const Evidence& evidence) {
  const std::string_view said =
      trim(!evidence.stderr_text.empty() ? evidence.stderr_text : evidence.log);
  const std::string_view first = said.substr(0, said.find('\n'));
  return shorten(first.empty() ? translated(evidence.note) : std::string(first), 160);
}

// What failed and why, the same failure told once.
std::string failure_lines(const Report& report, const std::string& device, const Painter& paint) {
  std::map<std::tuple<Verdict, Stage, int>, Failures> groups;
  for (const VerdictReport& row : report.verdicts) {
    if (row.device != device || row.verdict == Verdict::kPass ||
        row.verdict == Verdict::kUnsupported) {
      continue;
    }
    Failures& group = groups[{row.verdict, row.stage, row.evidence.signal}];
    ++group.cases;
    group.kernels.insert(fmt::format("{}/{}", row.kernel, to_string(row.combination)));
    if (group.example.empty()) group.example = first_words(row.evidence);
  }
  std::string text;
  for (const auto& [kind, group] : groups) {
    const std::string why = std::apply(shown_event, kind);
    text += tr("    {}: {} cases of {} variants, e.g. {}", paint.bad(why), group.cases,
               group.kernels.size(), *group.kernels.begin()) +
            "\n";
    if (!group.example.empty()) text += fmt::format("      {}\n", group.example);
  }
  return text;
}

// What failed after the probe.
std::string tombstone_lines(const Report& report, const DeviceReport& device,
                            const Painter& paint) {
  std::string text;
  for (const Tombstone& row : report.tombstones) {
    if (row.environment_key != device.environment_key) continue;
    text += "    " +
            tr("{} in use, not used since {}: {} ({})",
               paint.bad(shown_event(row.verdict, row.stage, 0)), row.date,
               row.variant.empty() ? device.name : row.variant, translated(row.evidence)) +
            "\n";
  }
  return text;
}

std::string best_line(const DeviceReport& device, const Painter& paint) {
  if (!device.best)
    return tr("  best: {}", paint.bad(tr("no combination passed every test"))) + "\n";
  const std::string combination = paint.good(describe(device.best->combination));
  return tr("  best: {} ({})", combination, translated(device.best->why)) + "\n";
}

std::string device_block(const Report& report, const DeviceReport& device, const Painter& paint) {
  std::string text = fmt::format("{} {} ({}, {}, {})\n", device.id, paint.strong(device.name),
                                 device.platform, device.type, device.driver);
  const std::string others = fmt::format("{}", fmt::join(device.also_via, ", "));
  text += others.empty() ? tr("  through {}", device.library)
                         : tr("  through {}; also via {}", device.library, others);
  text += "\n" + best_line(device, paint);
  for (const CombinationReport& row : device.combinations) {
    if (row.combination.memory) text += combination_line(row, paint);
  }
  text += unsupported_lines(device);
  for (const auto& [name, found] : device.capabilities) {
    if (found.verdict != CapabilityVerdict::kTrue) {
      text += fmt::format("    {} {}: {}\n", name, paint.bad(shown(found.verdict)),
                          translated(found.evidence));
    }
  }
  return text + failure_lines(report, device.id, paint) + tombstone_lines(report, device, paint);
}

std::string candidate_lines(const Report& report) {
  std::string text;
  for (const CandidateReport& row : report.candidates) {
    if (row.outcome == CandidateOutcome::kAbsent) continue;
    text += fmt::format("  {} ({}): {}{}\n", row.name, shown(row.origin), shown(row.outcome),
                        row.reason.empty() ? "" : " - " + translated(row.reason));
  }
  for (const IcdFileReport& row : report.icd_files) {
    for (const IcdFault& fault : row.faults)
      text += fmt::format("  {}: {}\n", row.path, translated(fault.text));
  }
  return text;
}

std::string what_was_tried(const Report& report) {
  const std::string candidates = candidate_lines(report);
  if (!candidates.empty()) return candidates;
  return "  " +
         tr("No OpenCL library was found; install the board's OpenCL driver, or one for the CPU "
            "({}).",
            install_commands("cpu").value_or("PoCL")) +
         "\n";
}

std::string died_lines(const Report& report, const Painter& paint) {
  std::string text;
  for (const CandidateReport& row : report.candidates) {
    const bool died = row.outcome == CandidateOutcome::kCrash ||
                      row.outcome == CandidateOutcome::kHang ||
                      row.outcome == CandidateOutcome::kExited;
    if (died)
      text += fmt::format("{} {}: {}\n", row.name, paint.bad(shown(row.outcome)),
                          translated(row.reason));
  }
  return text;
}

std::string run_lines(const Report& report) {
  const RunReport& run = report.run;
  std::string counts;
  for (const auto& [word, count] : run.counts) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, translated(word));
  }
  const std::string text =
      tr("tried {} cases in {:.1f} s: {}", run.cases, run.wall_s, counts) + "\n";
  if (report.complete) return text;
  return text +
         (run.only_cases.empty() ? tr("The report is INCOMPLETE: the probe was stopped early.")
                                 : tr("The report has only the cases asked for.")) +
         "\n";
}

// The first fix of each advice; known issues are counted, since a driver may have dozens.
std::string advice_lines(const Report& report, const Painter& paint) {
  std::string text;
  int known = 0;
  for (const AdviceReport& row : report.advice) {
    if (row.lang != to_string(language()) || row.fixes.empty()) continue;
    if (row.id.starts_with("known-")) {
      ++known;
    } else {
      text += fmt::format("{} {}: {}\n", paint.strong(tr("advice")), row.cause, row.fixes.front());
    }
  }
  if (known == 0) return text;
  return text +
         (known == 1 ? tr("1 known issue may concern this driver; 'clvet report html' lists it")
                     : tr("{} known issues may concern this driver; 'clvet report html' lists them",
                          known)) +
         "\n";
}

}  // namespace

std::string describe(const Combination& combination) {
  const char* precision = to_string(combination.precision);
  const char* activations = to_string(combination.activations);
  const char* memory = combination.memory ? to_string(*combination.memory) : nullptr;
  const char* weights = combination.weights ? to_string(*combination.weights) : nullptr;
  if (memory && weights)
    return tr("precision {}, memory {}, activations {}, weights {}", precision, memory, activations,
              weights);
  if (memory) return tr("precision {}, memory {}, activations {}", precision, memory, activations);
  if (weights)
    return tr("precision {}, activations {}, weights {}", precision, activations, weights);
  return tr("precision {}, activations {}", precision, activations);
}

std::string summary_text(const Report& report, bool colours) {
  const Painter paint(colours);
  if (report.devices.empty())
    return tr("No OpenCL device was found.") + "\n" + what_was_tried(report);
  std::string text;
  for (const DeviceReport& device : report.devices) text += device_block(report, device, paint);
  return text + died_lines(report, paint) + advice_lines(report, paint) + run_lines(report);
}

}  // namespace clvet
