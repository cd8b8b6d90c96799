#include "probe/diagnose/file_facts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/pattern.h"
#include "base/text.h"
#include "probe/diagnose/fact.h"
#include "probe/files/change.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_view.h"
#include "probe/files/kernel_view.h"
#include "probe/files/layer_view.h"
#include "probe/files/library_names.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/files/survey.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

const char* yes(bool value) { return value ? "yes" : "no"; }

// A driver that could serve, the CPU's last.
const LibraryInView* best_driver(const Survey& survey) {
  const LibraryInView* best = nullptr;
  for (const LibraryInView& row : survey.libraries) {
    if (!row.opened() || row.loader || row.opencl == OpenClEntry::kNone ||
        row.opencl == OpenClEntry::kGoogle)
      continue;
    if (!best || (best->software && !row.software)) best = &row;
  }
  return best;
}

std::vector<Fact> facts_of_variables(const std::vector<VariableInView>& variables) {
  std::vector<Fact> facts;
  for (const VariableInView& row : variables) {
    const bool icd = row.value.ends_with(".icd") && row.value.find('/') != std::string::npos;
    const bool library =
        row.value.find(".so") != std::string::npos && row.value.find(':') == std::string::npos;
    facts.push_back({"variable",
                     {{"name", row.name},
                      {"value", row.value},
                      {"given", row.value.empty() ? "''" : row.value},
                      {"state", row.state},
                      {"takes", row.takes},
                      {"reader", row.reader},
                      {"other", row.other},
                      {"looks_like", icd                 ? "icd"
                                     : library           ? "library"
                                     : row.value.empty() ? "nothing"
                                                         : "path"},
                      {"folder", icd ? folder_of(row.value) : ""}}});
  }
  return facts;
}

std::vector<Fact> facts_of_layers(const std::vector<LayerInView>& layers) {
  std::vector<Fact> facts;
  for (const LayerInView& row : layers) {
    facts.push_back({"layer",
                     {{"path", row.from},
                      {"file", row.from.starts_with("/") ? "yes" : "no"},
                      {"target", row.target},
                      {"state", row.state},
                      {"reason", row.reason}}});
  }
  return facts;
}

class FactWriter {
 public:
  FactWriter(const FileSystemView& view, const Survey& survey) : view_(view), survey_(survey) {
    const LibraryInView* driver = best_driver(survey);
    if (!driver) return;
    driver_ = driver->path;
    driver_opencl_ = to_string(driver->opencl);
  }

  std::vector<Fact> write() {
    libraries();
    lookups();
    icd_files();
    nodes();
    kernel();
    gpus();
    firmware();
    summary();
    return std::move(facts_);
  }

 private:
  void add(Fact fact) { facts_.push_back(std::move(fact)); }

  void libraries() {
    for (const LibraryInView& row : survey_.libraries) {
      const std::string outcome = to_string(row.opening.outcome);
      const LibraryName* name = library_name_of(row.path);
      add({"library",
           {{"path", row.path},
            {"name", file_name_of(row.path)},
            {"folder", folder_of(row.path)},
            {"known", yes(name && name->bare)},
            {"outcome", outcome},
            {"detail", row.opening.detail},
            {"loader", yes(row.loader)},
            {"software", yes(row.software)},
            {"opencl", to_string(row.opencl)},
            {"exports", row.opened() ? to_string(row.opencl) : ""},
            {"release", row.release}}});
    }
  }

  // Where the linker finds the name: the file itself may lie elsewhere, behind a link.
  std::string folder_with(const std::string& name, const std::string& file) const {
    for (const std::string& folder : library_folders(view_, survey_.setting)) {
      if (resolve(view_, folder + "/" + name) == file) return resolve(view_, folder).value();
    }
    return folder_of(file);
  }

  void lookups() {
    const Opening runtime = open_library(view_, survey_.setting, "libOpenCL.so.1");
    const Opening link = open_library(view_, survey_.setting, "libOpenCL.so");
    const bool runs = runtime.outcome == Opening::Outcome::kOpened;
    reachable_ = runs || link.outcome == Opening::Outcome::kOpened;
    if (runs && link.outcome == Opening::Outcome::kAbsent) {
      const std::string folder = folder_with("libOpenCL.so.1", runtime.path);
      const bool beside = runtime.path == folder + "/" + file_name_of(runtime.path);
      add({"runtime-only",
           {{"path", runtime.path},
            {"name", beside ? file_name_of(runtime.path) : "libOpenCL.so.1"},
            {"folder", folder}}});
    }
    if (!runs) return;
    const bool vendor = !is_loader(runtime.library);
    if (vendor && !survey_.icd_files.empty()) {
      add({"loader-replaced", {{"path", runtime.path}}});
    }
    for (const LibraryInView& row : survey_.libraries) {
      const bool rival = row.path != runtime.path && row.opened() &&
                         row.opencl == OpenClEntry::kFull &&
                         row.opening.library.soname == runtime.library.soname;
      if (!rival || !vendor || row.opening.library.soname.empty()) continue;
      add({"shadow",
           {{"path", runtime.path}, {"other", row.path}, {"soname", row.opening.library.soname}}});
    }
  }

  void icd_files() {
    for (const IcdInView& row : survey_.icd_files) {
      add({"icd",
           {{"path", row.file.path},
            {"target", row.file.target},
            {"library", row.opening.path},
            {"outcome", to_string(row.opening.outcome)},
            {"usable", yes(row.usable)},
            {"software", yes(row.software)},
            {"without_entry", yes(row.without_entry)},
            {"reason", row.reason}}});
      const bool useless =
          row.file.target.empty() || (row.opening.outcome == Opening::Outcome::kAbsent &&
                                      !driver_.empty() && !is_software(driver_));
      const std::string target = useless ? driver_ : row.file.target;
      for (const IcdFault& fault : row.file.faults) {
        add({"icd-fault",
             {{"path", row.file.path},
              {"target", target},
              {"driver", driver_},
              {"kind", to_string(fault.kind)},
              {"fault", fault.text}}});
      }
    }
  }

  // Where the tree holds device nodes at all.
  void nodes() {
    const auto folder = resolve(view_, "/dev");
    if (!folder || view_.names(*folder).empty()) return;
    const bool wanted = std::any_of(
        survey_.libraries.begin(), survey_.libraries.end(), [](const LibraryInView& row) {
          return row.opened() && family_of(row.path) == "mali" && row.opencl != OpenClEntry::kNone;
        });
    const auto entry = view_.entry(*folder + "/mali0");
    if (!entry && wanted) {
      add({"node",
           {{"path", "/dev/mali0"}, {"state", "absent"}, {"container", survey_.kernel.container}}});
    } else if (entry && (entry->mode & 0066) == 0) {
      add({"node",
           {{"path", "/dev/mali0"},
            {"state", "denied"},
            {"mode", fmt::format("{:04o}", entry->mode)},
            {"container", survey_.kernel.container}}});
    }
  }

  void kernel() {
    const std::string& kernel_release = survey_.kernel.mali_release;
    for (const std::string& line : survey_.kernel.lines) {
      add({"text", {{"source", "kernel log"}, {"text", line}}});
    }
    for (const LibraryInView& row : survey_.libraries) {
      if (row.release.empty() || kernel_release.empty() || row.release == kernel_release) continue;
      add({"releases", {{"path", row.path}, {"user", row.release}, {"kernel", kernel_release}}});
    }
  }

  void gpus() {
    const std::vector<std::string>& found = survey_.kernel.gpus;
    for (const LibraryInView& row : survey_.libraries) {
      const std::string wants = gpu_of_library(row.path);
      if (wants.empty() || !row.opened() || may_fit(wants, found)) continue;
      add({"gpu", {{"library", row.path}, {"wants", wants}, {"has", found.front()}}});
    }
  }

  void firmware() {
    static const Pattern csf(R"(-(g310|g510|g610|g710|g615|g715|g620|g720|g625|g725|g925)-)");
    const auto folder = resolve(view_, "/lib/firmware");
    if (!folder) return;
    const std::vector<std::string> names = view_.names(*folder);
    const bool mali =
        exists(view_, *folder + "/mali_csffw.bin") || exists(view_, *folder + "/arm/mali");
    const bool powervr = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name.starts_with("rgx.fw");
    });
    for (const LibraryInView& row : survey_.libraries) {
      const bool wants_mali = csf.found_in(file_name_of(row.path).substr(0, 200)) && row.opened();
      const bool wants_powervr = family_of(row.path) == "powervr" && row.opened();
      if (!(wants_mali && !mali) && !(wants_powervr && !powervr)) continue;
      const std::string file = wants_mali ? "mali_csffw.bin" : "rgx.fw.*";
      add({"firmware",
           {{"file", "/lib/firmware/" + file}, {"absent", file}, {"library", row.path}}});
    }
  }

  void summary() {
    const auto any = [&](auto test) {
      return std::any_of(survey_.libraries.begin(), survey_.libraries.end(), test);
    };
    const auto& icds = survey_.icd_files;
    const bool icd_usable =
        std::any_of(icds.begin(), icds.end(), [](const auto& row) { return row.usable; });
    const std::string own = "/usr/lib/" + triplet_of(survey_.setting.abi);
    const Change icd_file = icd_file_for(view_, driver_.empty() ? "libdriver.so" : driver_);
    add({"files",
         {{"system", to_string(survey_.setting.system)},
          {"abi", abi_name(survey_.setting.abi)},
          {"libraries", std::to_string(survey_.libraries.size())},
          {"icds", std::to_string(icds.size())},
          {"found", yes(!survey_.libraries.empty())},
          {"opened", yes(any([](const auto& row) { return row.opened(); }))},
          {"loader", yes(any([](const auto& row) { return row.opened() && row.loader; }))},
          {"icd_files", yes(!icds.empty())},
          {"icd_usable", yes(icd_usable)},
          {"usable", yes(survey_.usable)},
          {"gpu", yes(survey_.gpu)},
          {"driver", driver_},
          {"driver_opencl", driver_opencl_},
          {"container", survey_.kernel.container},
          {"icd_path", icd_file.path},
          {"reachable", yes(reachable_)},
          {"link_path", resolve(view_, own).value_or("/usr/lib") + "/libOpenCL.so"}}});
  }

  const FileSystemView& view_;
  const Survey& survey_;
  std::string driver_, driver_opencl_;
  bool reachable_ = false;  // by the name that programs look for
  std::vector<Fact> facts_;
};

}  // namespace

std::vector<Fact> facts_of_files(const FileSystemView& view, const Survey& survey) {
  std::vector<Fact> facts = FactWriter(view, survey).write();
  for (const auto& more : {facts_of_variables(survey.variables), facts_of_layers(survey.layers)})
    facts.insert(facts.end(), more.begin(), more.end());
  return facts;
}

}  // namespace clvet
