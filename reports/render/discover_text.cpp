#include "reports/render/discover_text.h"

#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "probe/diagnose/diagnosis.h"
#include "probe/diagnose/fix_script.h"
#include "probe/diagnose/packages.h"
#include "probe/diagnose/rules.h"
#include "probe/files/change.h"
#include "probe/files/icd_view.h"
#include "probe/files/kernel_view.h"
#include "probe/files/layer_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/files/personalities.h"
#include "probe/files/survey.h"
#include "probe/report/report.h"
#include "reports/render/shown.h"

namespace clvet {
namespace {

constexpr size_t kLongestLine = 4000;

// What has to be installed first, by the word that FrameworkDiagnosis::missing has for it. The
// fields are how `parts` are installed.
struct MissingPart {
  const char *word, *text;
  std::array<const char*, 2> parts = {"", ""};
};
constexpr MissingPart kMissing[] = {
    {"library",
     "there is no library that it can use: install the loader ({}) and the GPU's driver (the "
     "board vendor's package; for the CPU: {}), then run 'clvet discover' again",
     {"loader", "cpu"}},
    {"driver",
     "a driver is missing: install the GPU's driver (the board vendor's package; for the CPU: "
     "{}), then run 'clvet discover' again",
     {"cpu", ""}},
    {"gpu-driver",
     "it needs a GPU, but only drivers for the CPU are installed: install the GPU's driver (the "
     "board vendor's package), then run 'clvet discover' again"},
    {"device", "it accepts none of the devices here; another framework may accept one"},
    {"listing",
     "there is a driver, but Android does not let apps use it: only the phone's maker can "
     "change that; see above"}};

std::string text_of(const MissingPart& part) {
  const std::string first = install_commands(part.parts[0]).value_or("");
  const std::string second = install_commands(part.parts[1]).value_or("");
  return fmt::vformat(translated_format(part.text), fmt::make_format_args(first, second));
}

class Writer {
 public:
  explicit Writer(const Diagnosis& diagnosis) : diagnosis_(diagnosis) {}

  std::string write() {
    heading();
    if (diagnosis_.live) live();
    if (!diagnosis_.live) loader(diagnosis_.survey.loader);
    files();
    kernel(diagnosis_.survey.kernel);
    for (const Finding& finding : diagnosis_.findings) tell(finding);
    if (diagnosis_.findings.empty()) line(tr("No problem was found."));
    if (diagnosis_.framework) framework(*diagnosis_.framework);
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += one_line(text, kLongestLine) + "\n"; }

  static std::string with_reason(const std::string& word, const std::string& reason) {
    return reason.empty() ? word : word + ", " + translated(reason);
  }

  std::string verdict() const {
    if (!diagnosis_.usable) return tr("OpenCL is not usable");
    return diagnosis_.reachable ? tr("OpenCL is usable")
                                : tr("a driver is here, but programs do not find it");
  }

  void heading() {
    const LinkerSetting& setting = diagnosis_.survey.setting;
    line(fmt::format("{} ({} {}): {}",
                     diagnosis_.root.empty() ? tr("this machine") : diagnosis_.root,
                     to_string(setting.system), abi_name(setting.abi), verdict()));
  }

  void live() {
    const Report& report = *diagnosis_.live;
    const LoaderReport& loader = report.loader;
    line(loader.path.empty()
             ? tr("loader: none")
             : tr("loader: {} {} ({})", shown(loader.kind), loader.version, loader.path));
    for (const DeviceReport& device : report.devices) {
      line(tr("device: {} ({}, {}), through {}", device.name, device.type, device.platform,
              device.library));
    }
    size_t absent = 0;
    for (const CandidateReport& row : report.candidates) {
      absent += row.outcome == CandidateOutcome::kAbsent;
      if (row.outcome == CandidateOutcome::kAbsent || row.outcome == CandidateOutcome::kUsable)
        continue;
      line(shorten("  " + row.name + ": " + with_reason(shown(row.outcome), row.reason), 400));
    }
    line(tr("  {} known library names were not found", absent));
  }

  void loader(const LoaderInView& loader) {
    if (loader.path.empty()) return;
    line(loader.version.empty()
             ? tr("loader: {} ({})", shown(loader.kind), loader.path)
             : tr("loader: {} {} ({})", shown(loader.kind), loader.version, loader.path));
  }

  void files() {
    for (const VariableInView& row : diagnosis_.survey.variables) {
      line(fmt::format("  {}={}: {} ({})", row.name, row.value, translated(row.state),
                       translated(row.reader)));
    }
    for (const LibraryInView& row : diagnosis_.survey.libraries) {
      const bool opens = row.opening.outcome == Opening::Outcome::kOpened;
      if (diagnosis_.live && opens) continue;  // told with its outcome above
      std::string text = with_reason(shown(row.opening.outcome), row.opening.detail);
      if (opens) text += ", OpenCL " + shown(row.opencl);
      if (opens && !row.cl.empty()) text += " >= " + row.cl;
      if (!row.release.empty()) text += ", " + row.release;
      line(fmt::format("  {}: {}", row.path, text));
    }
    layers();
    icd_files();
  }

  void layers() {
    for (const LayerInView& row : diagnosis_.survey.layers) {
      line(tr("  layer {} -> {}: {}", row.from, row.target,
              with_reason(translated(row.state), row.reason)));
    }
  }

  void icd_files() {
    for (const IcdInView& row : diagnosis_.survey.icd_files) {
      std::string faults;
      for (const IcdFault& fault : row.file.faults) faults += "; " + translated(fault.text);
      line(fmt::format("  {} -> {}{}{}", row.file.path, row.file.target,
                       row.reason.empty() ? "" : ": " + translated(row.reason), faults));
    }
  }

  void kernel(const KernelInView& kernel) {
    const auto fact = [&](const std::string& name, const std::string& value) {
      if (!value.empty()) line(fmt::format("  {}: {}", name, value));
    };
    const auto list = [&](const std::string& name, std::vector<std::string> rows) {
      for (std::string& row : rows) row = translated(row);
      fact(name, fmt::format("{}", fmt::join(rows, "; ")));
    };
    list(tr("GPUs that the kernel found"), kernel.gpus);
    fact(tr("Mali driver in the kernel"), kernel.mali_release);
    fact(tr("container"), kernel.container);
    fact("SELinux", kernel.selinux);
    list(tr("clocks"), kernel.clocks);
    list(tr("temperatures"), kernel.temperatures);
  }

  void tell(const Finding& finding) {
    line("");
    line(fmt::format("{}: {}", finding.name, finding.cause.at(lang_)));
    for (const LanguageText& row : finding.evidence) line("    " + shorten(row.at(lang_), 300));
    int number = 0;
    for (const FoundFix& fix : finding.fixes) {
      line(fmt::format("  {}. {}", ++number, fix.text.at(lang_)));
      changes(fix.changes);
    }
  }

  void changes(const std::vector<Change>& rows) {
    for (const Change& row : rows) line("       " + command(row));
    if (needs_ldconfig(diagnosis_.survey, rows)) line("       ldconfig");
  }

  // What a person may type; the script of --fix-script does it with an undo.
  static std::string command(const Change& row) {
    switch (row.kind) {
      case Change::Kind::kLink:
        return fmt::format("ln -s {} {}", shell_word(row.value), shell_word(row.path));
      case Change::Kind::kFile:
        return fmt::format("mkdir -p {} && echo {} > {}", shell_word(folder_of(row.path)),
                           shell_word(trim(row.value)), shell_word(row.path));
      case Change::Kind::kMove:
        return fmt::format("mv {} {}", shell_word(row.path), shell_word(row.value));
      default:
        return fmt::format("export {}={}", row.path, shell_word(row.value));
    }
  }

  void framework(const FrameworkDiagnosis& framework) {
    line("");
    line(fmt::format("{} ({}):", framework.personality.title, translated(framework.flags)));
    replay(framework.replay);
    if (framework.replay.end == ReplayEnd::kUsable) return;
    if (!framework.change) {
      line(nothing_helps(framework.missing));
      return;
    }
    line(tr("  the smallest change that makes it work:"));
    changes(framework.change->changes);
    line(tr("  after this change:"));
    replay(framework.change->after);
    if (!framework.edit) return;
    for (const std::string& row : split(source_edit_text(framework, lang_), '\n')) line("  " + row);
  }

  static std::string nothing_helps(const std::string& missing) {
    for (const MissingPart& row : kMissing) {
      if (missing == row.word) return "  " + text_of(row);
    }
    return "  " + tr("no single change would help; see above");
  }

  void replay(const Replay& replay) {
    for (const ReplayStep& row : replay.steps) {
      line("    " + row.name + ": " + with_reason(shown(row.outcome), row.detail));
    }
    line("    = " + shown(replay.end) +
         (replay.reason.empty() ? "" : ": " + translated(replay.reason)));
    for (const std::string& row : replay.prints) line("    | " + row);
  }

  const Diagnosis& diagnosis_;
  const std::string lang_ = to_string(language());
  std::string text_;
};

}  // namespace

std::string discover_text(const Diagnosis& diagnosis) { return Writer(diagnosis).write(); }

}  // namespace clvet
