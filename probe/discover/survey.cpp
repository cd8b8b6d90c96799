#include "probe/discover/survey.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pattern.h"
#include "probe/advice/rules.h"
#include "probe/discover/change.h"
#include "probe/discover/file_view.h"
#include "probe/discover/icd_view.h"
#include "probe/discover/kernel_view.h"
#include "probe/discover/layer_view.h"
#include "probe/discover/linker.h"
#include "probe/discover/loader_view.h"

namespace clvet {
namespace surveying {
namespace {

constexpr size_t kLargestDriver = 128 << 20;
constexpr size_t kMostOfDrivers = size_t{1} << 30;  // looked through, of all together

struct VersionSymbol {
  const char *symbol, *version;
};
constexpr VersionSymbol kVersions[] = {{"clCreateBufferWithProperties", "3.0"},
                                       {"clSetProgramReleaseCallback", "2.2"},
                                       {"clCloneKernel", "2.1"},
                                       {"clCreatePipe", "2.0"},
                                       {"clCreateImage", "1.2"},
                                       {"clGetPlatformIDs", "1.0"}};

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool any_prefix(const std::string& name, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

bool is_mali(const std::string& path) {
  return any_prefix(name_of(path), {"libmali", "libMali", "libGLES_mali"});
}

std::string opencl_of(const Opening& opening) {
  const auto has = [&](const char* symbol) { return opening.symbols.count(symbol) > 0; };
  if (has("clGetPlatformIDs") && has("clCreateContext")) return "full";
  if (has("clIcdGetPlatformIDsKHR") || has("clGetExtensionFunctionAddress")) return "icd";
  return has("enableOpenCL") && has("loadOpenCLPointer") ? "google" : "none";
}

// As the driver says it when it is loaded; else the first that its file holds.
std::string release_of_driver(std::string_view bytes) {
  const size_t said = bytes.find("arm_release_ver of this libmali is");
  const std::string release =
      said == std::string_view::npos ? std::string() : mali_release_in(bytes.substr(said, 200));
  return release.empty() ? mali_release_in(bytes) : release;
}

LibraryInView look_at(const FileSystemView& view, const LinkerSetting& setting,
                      const std::string& path, size_t& bytes_left) {
  LibraryInView row;
  row.path = path;
  // By its bare name on Android, as an app would.
  row.opening =
      open_library(view, setting, setting.system == System::kAndroid ? name_of(path) : path);
  if (row.opening.outcome == Opening::Outcome::kAbsent)
    row.opening = open_library(view, setting, path);
  row.loader = is_loader(row.opening.library);
  row.software = is_software(path);
  row.build_id = view.build_id(path);
  row.opencl = opencl_of(row.opening);
  for (const VersionSymbol& version : kVersions) {
    if (row.cl.empty() && row.opening.symbols.count(version.symbol)) row.cl = version.version;
  }
  if (is_mali(path)) {
    if (const auto bytes = view.text(path, std::min(kLargestDriver, bytes_left))) {
      bytes_left -= bytes->size();
      row.release = release_of_driver(*bytes);
    }
  }
  return row;
}

bool opened(const LibraryInView& row) { return row.opening.outcome == Opening::Outcome::kOpened; }

// A driver that could serve, the CPU's last.
const LibraryInView* best_driver(const Survey& survey) {
  const LibraryInView* best = nullptr;
  for (const LibraryInView& row : survey.libraries) {
    if (!opened(row) || row.loader || row.opencl == "none" || row.opencl == "google") continue;
    if (!best || (best->software && !row.software)) best = &row;
  }
  return best;
}

const char* yes(bool value) { return value ? "yes" : "no"; }

class FactWriter {
 public:
  FactWriter(const FileSystemView& view, const Survey& survey) : view_(view), survey_(survey) {
    const LibraryInView* driver = best_driver(survey);
    if (!driver) return;
    driver_ = driver->path;
    driver_opencl_ = driver->opencl;
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
      add({{"fact", "library"},
           {"path", row.path},
           {"name", name_of(row.path)},
           {"folder", row.path.substr(0, row.path.rfind('/'))},
           {"outcome", outcome},
           {"detail", row.opening.detail},
           {"loader", yes(row.loader)},
           {"software", yes(row.software)},
           {"opencl", row.opencl},
           {"release", row.release},
           {"say",
            fmt::format("{}: {}{}{}{}", row.path, outcome, row.opening.detail.empty() ? "" : ", ",
                        row.opening.detail, opened(row) ? ", OpenCL: " + row.opencl : "")}});
    }
  }

  // Where the linker finds the name: the file itself may lie elsewhere, behind a link.
  std::string folder_with(const std::string& name, const std::string& file) const {
    for (const std::string& folder : library_folders(view_, survey_.setting)) {
      if (resolve(view_, folder + "/" + name) == file) return resolve(view_, folder).value();
    }
    return file.substr(0, file.rfind('/'));
  }

  void lookups() {
    const Opening runtime = open_library(view_, survey_.setting, "libOpenCL.so.1");
    const Opening link = open_library(view_, survey_.setting, "libOpenCL.so");
    const bool runs = runtime.outcome == Opening::Outcome::kOpened;
    reachable_ = runs || link.outcome == Opening::Outcome::kOpened;
    if (runs && link.outcome == Opening::Outcome::kAbsent) {
      const std::string folder = folder_with("libOpenCL.so.1", runtime.path);
      const bool beside = runtime.path == folder + "/" + name_of(runtime.path);
      add({{"fact", "runtime-only"},
           {"path", runtime.path},
           {"name", beside ? name_of(runtime.path) : "libOpenCL.so.1"},
           {"folder", folder},
           {"say",
            runtime.path + " is there as libOpenCL.so.1, and nothing is called libOpenCL.so"}});
    }
    if (!runs) return;
    const bool vendor = !is_loader(runtime.library);
    if (vendor && !survey_.icd_files.empty()) {
      add({{"fact", "loader-replaced"},
           {"path", runtime.path},
           {"say",
            runtime.path + " stands where the loader should be: it defines no OPENCL_* versions"}});
    }
    for (const LibraryInView& row : survey_.libraries) {
      const bool rival = row.path != runtime.path && opened(row) && row.opencl == "full" &&
                         row.opening.library.soname == runtime.library.soname;
      if (!rival || !vendor || row.opening.library.soname.empty()) continue;
      add({{"fact", "shadow"},
           {"path", runtime.path},
           {"other", row.path},
           {"soname", row.opening.library.soname},
           {"say", fmt::format("{} and {} both are {}; programs get the first", runtime.path,
                               row.path, row.opening.library.soname)}});
    }
  }

  void icd_files() {
    for (const IcdInView& row : survey_.icd_files) {
      add({{"fact", "icd"},
           {"path", row.file.path},
           {"target", row.file.target},
           {"library", row.opening.path},
           {"outcome", to_string(row.opening.outcome)},
           {"usable", yes(row.usable)},
           {"software", yes(row.software)},
           {"reason", row.reason},
           {"say", fmt::format("{} names {}{}{}", row.file.path, row.file.target,
                               row.reason.empty() ? "" : ": ", row.reason)}});
      const bool useless =
          row.file.target.empty() || (row.opening.outcome == Opening::Outcome::kAbsent &&
                                      !driver_.empty() && !is_software(driver_));
      const std::string target = useless ? driver_ : row.file.target;
      for (const std::string& fault : row.file.faults) {
        add({{"fact", "icd-fault"},
             {"path", row.file.path},
             {"target", target},
             {"driver", driver_},
             {"fault", fault},
             {"say", row.file.path + " " + fault}});
      }
    }
  }

  // Where the tree holds device nodes at all.
  void nodes() {
    const auto folder = resolve(view_, "/dev");
    if (!folder || view_.names(*folder).empty()) return;
    const bool wanted = std::any_of(
        survey_.libraries.begin(), survey_.libraries.end(), [](const LibraryInView& row) {
          return opened(row) && is_mali(row.path) && row.opencl != "none";
        });
    const auto entry = view_.entry(*folder + "/mali0");
    if (!entry && wanted) {
      add({{"fact", "node"},
           {"path", "/dev/mali0"},
           {"state", "absent"},
           {"container", survey_.kernel.container},
           {"say", "/dev/mali0 is not there, and a Mali driver is installed"}});
    } else if (entry && (entry->mode & 0066) == 0) {
      add({{"fact", "node"},
           {"path", "/dev/mali0"},
           {"state", "denied"},
           {"container", survey_.kernel.container},
           {"say",
            fmt::format("/dev/mali0 has mode {:04o}: only its owner may open it", entry->mode)}});
    }
  }

  void kernel() {
    const std::string& kernel_release = survey_.kernel.mali_release;
    for (const std::string& line : survey_.kernel.lines) {
      add({{"fact", "text"},
           {"source", "kernel log"},
           {"text", line},
           {"say", "kernel log: " + line}});
    }
    for (const LibraryInView& row : survey_.libraries) {
      if (row.release.empty() || kernel_release.empty() || row.release == kernel_release) continue;
      add({{"fact", "releases"},
           {"path", row.path},
           {"user", row.release},
           {"kernel", kernel_release},
           {"say", fmt::format("{} is of {}, the kernel's driver of {}", row.path, row.release,
                               kernel_release)}});
    }
  }

  void gpus() {
    const std::vector<std::string>& found = survey_.kernel.gpus;
    for (const LibraryInView& row : survey_.libraries) {
      const std::string wants = gpu_of_library(row.path);
      if (wants.empty() || !opened(row) || may_fit(wants, found)) continue;
      add({{"fact", "gpu"},
           {"library", row.path},
           {"wants", wants},
           {"has", found.front()},
           {"say",
            fmt::format("{} is for {}, and the kernel found {}", row.path, wants, found.front())}});
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
      const bool wants_mali = csf.found_in(name_of(row.path).substr(0, 200)) && opened(row);
      const bool wants_powervr = name_of(row.path).starts_with("libPVROCL") && opened(row);
      if (!(wants_mali && !mali) && !(wants_powervr && !powervr)) continue;
      const std::string file = wants_mali ? "mali_csffw.bin" : "rgx.fw.*";
      add({{"fact", "firmware"},
           {"file", "/lib/firmware/" + file},
           {"library", row.path},
           {"say", fmt::format("{} needs firmware, and /lib/firmware has no {}", row.path, file)}});
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
    add({{"fact", "files"},
         {"system", to_string(survey_.setting.system)},
         {"abi", abi_name(survey_.setting.abi)},
         {"found", yes(!survey_.libraries.empty())},
         {"opened", yes(any([](const auto& row) { return opened(row); }))},
         {"loader", yes(any([](const auto& row) { return opened(row) && row.loader; }))},
         {"icd_files", yes(!icds.empty())},
         {"icd_usable", yes(icd_usable)},
         {"usable", yes(survey_.usable)},
         {"gpu", yes(survey_.gpu)},
         {"driver", driver_},
         {"driver_opencl", driver_opencl_},
         {"container", survey_.kernel.container},
         {"icd_path", icd_file.path},
         {"reachable", yes(reachable_)},
         {"link_path", resolve(view_, own).value_or("/usr/lib") + "/libOpenCL.so"},
         {"say", fmt::format("{} libraries of a known name, {} ICD files, for {} {}",
                             survey_.libraries.size(), icds.size(),
                             to_string(survey_.setting.system), abi_name(survey_.setting.abi))}});
  }

  const FileSystemView& view_;
  const Survey& survey_;
  std::string driver_, driver_opencl_;
  bool reachable_ = false;  // by the name that programs look for
  std::vector<Fact> facts_;
};

}  // namespace
}  // namespace surveying

bool needs_ldconfig(const Survey& survey, const std::vector<Change>& changes) {
  const std::set<std::string> cached = cache_folders(survey.setting);
  return std::any_of(changes.begin(), changes.end(), [&](const Change& row) {
    return row.kind == Change::Kind::kLink &&
           cached.count(row.path.substr(0, row.path.rfind('/'))) > 0;
  });
}

Survey survey_files(const FileSystemView& view, const LinkerSetting& setting) {
  Survey survey;
  survey.setting = setting;
  survey.loader = loader_in_use(view, setting);
  survey.variables = variables_in(view, setting, survey.loader);
  survey.icd_files = icd_files_of(view, setting, survey.loader);
  survey.layers = layers_of(view, setting, survey.loader);
  std::vector<std::string> paths = scan_libraries(view);
  for (const IcdInView& row : survey.icd_files) {
    const std::string& path = row.opening.path;
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(path);
  }
  size_t bytes_left = surveying::kMostOfDrivers;
  for (const std::string& path : paths)
    survey.libraries.push_back(surveying::look_at(view, setting, path, bytes_left));
  survey.kernel = kernel_in(view);
  add_kernel_logs(view, survey.kernel);
  for (const LibraryInView& row : survey.libraries) {
    const bool serves = surveying::opened(row) && !row.loader && row.opencl != "none";
    survey.usable |= serves;
    survey.gpu |= serves && !row.software;
  }
  return survey;
}

std::vector<Fact> facts_of_files(const FileSystemView& view, const Survey& survey) {
  std::vector<Fact> facts = surveying::FactWriter(view, survey).write();
  for (const auto& more : {facts_of_variables(survey.variables), facts_of_layers(survey.layers)})
    facts.insert(facts.end(), more.begin(), more.end());
  return facts;
}

}  // namespace clvet
