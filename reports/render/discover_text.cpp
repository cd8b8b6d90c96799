#include "reports/render/discover_text.h"

#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/diagnose/diagnosis.h"
#include "probe/diagnose/fix_script.h"
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

namespace clvet {
namespace {

constexpr size_t kLongestLine = 4000;

class Writer {
 public:
  Writer(const Diagnosis& diagnosis, const std::string& lang)
      : diagnosis_(diagnosis), lang_(lang), chinese_(lang == "zh") {}

  std::string write() {
    heading();
    if (diagnosis_.live) live();
    if (!diagnosis_.live) loader(diagnosis_.survey.loader);
    files();
    kernel(diagnosis_.survey.kernel);
    for (const Finding& finding : diagnosis_.findings) tell(finding);
    if (diagnosis_.findings.empty()) line(say("Nothing stands in the way.", "未发现问题。"));
    if (diagnosis_.framework) framework(*diagnosis_.framework);
    return std::move(text_);
  }

 private:
  const char* say(const char* en, const char* zh) const { return chinese_ ? zh : en; }
  void line(const std::string& text) { text_ += one_line(text, kLongestLine) + "\n"; }

  void heading() {
    const LinkerSetting& setting = diagnosis_.survey.setting;
    line(fmt::format("{} ({} {}): {}",
                     diagnosis_.root.empty() ? say("this machine", "本机") : diagnosis_.root,
                     to_string(setting.system), abi_name(setting.abi),
                     diagnosis_.usable ? say("OpenCL is usable", "OpenCL 可用")
                                       : say("no usable OpenCL", "没有可用的 OpenCL")));
  }

  void live() {
    const Report& report = *diagnosis_.live;
    const LoaderReport& loader = report.loader;
    line(loader.path.empty() ? std::string(say("loader: none", "加载器:无"))
                             : fmt::format("{}: {} {} ({})", say("loader", "加载器"),
                                           to_string(loader.kind), loader.version, loader.path));
    for (const DeviceReport& device : report.devices) {
      line(fmt::format("{}: {} ({}, {}), {} {}", say("device", "设备"), device.name, device.type,
                       device.platform, say("through", "经由"), device.library));
    }
    size_t absent = 0;
    for (const CandidateReport& row : report.candidates) {
      absent += row.outcome == CandidateOutcome::kAbsent;
      if (row.outcome == CandidateOutcome::kAbsent || row.outcome == CandidateOutcome::kUsable)
        continue;
      line(fmt::format("  {}: {}{}{}", row.name, to_string(row.outcome),
                       row.reason.empty() ? "" : ", ", shorten(row.reason, 300)));
    }
    line(fmt::format("  {} {}", absent, say("other names lead nowhere", "个其他名称未找到")));
  }

  void loader(const LoaderInView& loader) {
    if (loader.path.empty()) return;
    line(fmt::format("{}: {}{}{} ({})", say("loader", "加载器"), to_string(loader.kind),
                     loader.version.empty() ? "" : " ", loader.version, loader.path));
  }

  void files() {
    for (const VariableInView& row : diagnosis_.survey.variables) {
      line(fmt::format("  {}={}: {} ({})", row.name, row.value, row.state, row.reader));
    }
    for (const LibraryInView& row : diagnosis_.survey.libraries) {
      const bool opens = row.opening.outcome == Opening::Outcome::kOpened;
      if (diagnosis_.live && opens) continue;  // told with its outcome above
      line(fmt::format("  {}: {}{}{}{}{}", row.path, to_string(row.opening.outcome),
                       row.opening.detail.empty() ? "" : ", ", row.opening.detail,
                       opens ? fmt::format(", OpenCL {}{}", to_string(row.opencl),
                                           row.cl.empty() ? "" : " >= " + row.cl)
                             : "",
                       row.release.empty() ? "" : ", " + row.release));
    }
    for (const LayerInView& row : diagnosis_.survey.layers) {
      line(fmt::format("  {} {} -> {}: {}{}{}", say("layer", "层"), row.from, row.target, row.state,
                       row.reason.empty() ? "" : ", ", row.reason));
    }
    for (const IcdInView& row : diagnosis_.survey.icd_files) {
      std::string faults;
      for (const IcdFault& fault : row.file.faults) faults += "; " + fault.text;
      line(fmt::format("  {} -> {}{}{}", row.file.path, row.file.target,
                       row.reason.empty() ? "" : ": " + row.reason, faults));
    }
  }

  void kernel(const KernelInView& kernel) {
    const auto list = [&](const char* name, const std::vector<std::string>& rows) {
      if (!rows.empty()) line(fmt::format("  {}: {}", name, fmt::join(rows, "; ")));
    };
    list(say("the kernel found", "内核识别的 GPU"), kernel.gpus);
    if (!kernel.mali_release.empty())
      line(fmt::format("  {}: {}", say("the kernel's Mali driver", "内核 Mali 驱动"),
                       kernel.mali_release));
    if (!kernel.container.empty())
      line(fmt::format("  {}: {}", say("in a container", "容器"), kernel.container));
    if (!kernel.selinux.empty()) line("  SELinux: " + kernel.selinux);
    list(say("clocks", "频率"), kernel.clocks);
    list(say("temperatures", "温度"), kernel.temperatures);
  }

  void tell(const Finding& finding) {
    line("");
    line(fmt::format("{}: {}", finding.name, finding.cause.at(lang_)));
    for (const LanguageText& told : finding.evidence) line("    " + shorten(told.at(lang_), 300));
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
    line(fmt::format("{} ({}):", framework.personality.title, framework.flags));
    replay(framework.replay);
    if (framework.replay.end == ReplayEnd::kUsable) return;
    if (!framework.change) {
      line(nothing_helps(framework.missing));
      return;
    }
    line(say("  the least change with which it succeeds:", "  使其成功的最小修改:"));
    changes(framework.change->changes);
    line(say("  with it:", "  修改后:"));
    replay(framework.change->after);
    if (!framework.edit) return;
    for (const std::string& row : split(source_edit_text(framework, lang_), '\n')) line("  " + row);
  }

  std::string nothing_helps(const std::string& missing) const {
    struct Words {
      const char *missing, *en, *zh;
    };
    constexpr Words kWords[] = {
        {"library",
         "  nothing here can serve it: install the loader (Debian: ocl-icd-libopencl1) and the "
         "GPU's "
         "driver (the board vendor's package; for the CPU: pocl-opencl-icd), then ask again",
         "  本机没有可用的库:请安装加载器(Debian:ocl-icd-libopencl1)和 GPU 驱动(板卡厂商的软件包;"
         "仅用 CPU 时:pocl-opencl-icd),然后重试"},
        {"driver",
         "  a driver is missing, and no change makes up for it: install the GPU's (the board "
         "vendor's "
         "package; for the CPU: pocl-opencl-icd), then ask again",
         "  缺少驱动,任何修改都无法弥补:请安装 GPU 驱动(板卡厂商的软件包;仅用 CPU "
         "时:pocl-opencl-icd),然后重试"},
        {"gpu-driver",
         "  it wants a GPU, and the drivers here are the CPU's: install the GPU's (the board "
         "vendor's "
         "package), then ask again",
         "  它需要 GPU,而这里只有 CPU 驱动:请安装 GPU 驱动(板卡厂商的软件包),然后重试"},
        {"device", "  it takes none of the devices that are here; another framework may",
         "  它不支持这里的任何设备;可尝试其他框架"},
        {"listing",
         "  a driver is here, and Android keeps apps from it: only the phone's maker can list it; "
         "see "
         "above",
         "  驱动存在,但 Android 不允许应用使用:只有厂商能将其列出,请参阅上文"}};
    for (const Words& row : kWords) {
      if (missing == row.missing) return say(row.en, row.zh);
    }
    return say("  no single change would help; see above", "  没有单一修改可以解决,请参阅上文");
  }

  void replay(const Replay& replay) {
    for (const ReplayStep& row : replay.steps) {
      line(fmt::format("    {}: {}{}{}", row.name, to_string(row.outcome),
                       row.detail.empty() ? "" : ", ", row.detail));
    }
    line(fmt::format("    = {}{}{}", to_string(replay.end), replay.reason.empty() ? "" : ": ",
                     replay.reason));
    for (const std::string& row : replay.prints) line("    | " + row);
  }

  const Diagnosis& diagnosis_;
  const std::string lang_;
  const bool chinese_;
  std::string text_;
};

}  // namespace

std::string discover_text(const Diagnosis& diagnosis, const std::string& lang) {
  return Writer(diagnosis, lang).write();
}

}  // namespace clvet
