#include "probe/files/linker.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_library.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/library_scan.h"

namespace clvet {
namespace {

constexpr size_t kLargestText = 1 << 20;
constexpr size_t kMostLibraries = 256;  // of one that is opened, with all it needs
constexpr size_t kMostFolders = 128;    // in which a name is looked for
constexpr size_t kMostConfs = 64;       // ld.so.conf and what it includes
constexpr size_t kLargestConf = 1 << 16;

struct Machine {
  Abi abi;
  const char *name, *triplet;
};
constexpr Machine kMachines[] = {{{64, EM_X86_64}, "x86-64", "x86_64-linux-gnu"},
                                 {{64, EM_AARCH64}, "aarch64", "aarch64-linux-gnu"},
                                 {{32, EM_ARM}, "arm", "arm-linux-gnueabihf"},
                                 {{64, EM_RISCV}, "riscv64", "riscv64-linux-gnu"},
                                 {{32, EM_386}, "i386", "i386-linux-gnu"}};

#if defined(__x86_64__)
constexpr Abi kOwnAbi{64, EM_X86_64};
#elif defined(__aarch64__)
constexpr Abi kOwnAbi{64, EM_AARCH64};
#elif defined(__arm__)
constexpr Abi kOwnAbi{32, EM_ARM};
#elif defined(__riscv)
constexpr Abi kOwnAbi{64, EM_RISCV};
#elif defined(__i386__)
constexpr Abi kOwnAbi{32, EM_386};
#else
constexpr Abi kOwnAbi{};
#endif

// What the rest of a system is built for.
constexpr const char* kSystemFiles[] = {"/bin/sh",
                                        "/usr/bin/env",
                                        "/system/bin/sh",
                                        "/usr/lib/libc.so.6",
                                        "/lib/libc.so.6",
                                        "/lib64/libc.so.6",
                                        "/usr/lib64/libc.so.6",
                                        "/system/lib64/libc.so",
                                        "/system/lib/libc.so",
                                        "/lib/ld-linux-aarch64.so.1",
                                        "/lib/ld-linux-armhf.so.3"};

// Those whose public.libraries files Android reads.
constexpr const char* kListFolders[] = {"/vendor/etc", "/system/etc", "/odm/etc", "/product/etc",
                                        "/system_ext/etc"};
constexpr const char* kAndroidTops[] = {"/system", "/vendor",     "/system/vendor",
                                        "/odm",    "/system_ext", "/product"};
constexpr size_t kMostApexes = 128;

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end())
    list.push_back(text);
}

// What a file may add to: there is an end to it.
void add_folder(std::vector<std::string>& list, const std::string& folder) {
  if (list.size() < kMostFolders) add_once(list, folder);
}

// /etc/ld.so.conf with what it includes, each file once.
class LinkerConf {
 public:
  explicit LinkerConf(const FileSystemView& view) : view_(view) { read("/etc/ld.so.conf"); }

  std::vector<std::string> take() { return std::move(folders_); }

 private:
  void read(const std::string& path) {
    const auto real = resolve(view_, path);
    if (!real || seen_.size() >= kMostConfs || !seen_.insert(*real).second) return;
    const auto text = view_.text(*real, kLargestConf);
    if (!text) return;
    for (const std::string& raw : split(*text, '\n')) {
      const std::string line(trim(std::string_view(raw).substr(0, raw.find('#'))));
      if (line.starts_with("include")) include(trim(std::string_view(line).substr(7)));
      if (line.starts_with('/')) add_folder(folders_, line);
    }
  }

  void include(std::string_view what) {
    const size_t slash = what.rfind('/');
    if (slash == std::string_view::npos) return;
    const auto folder = resolve(view_, std::string(what.substr(0, slash)));
    if (!folder || seen_.size() >= kMostConfs) return;
    const std::string_view pattern = what.substr(slash + 1);
    for (const std::string& name : view_.names(*folder)) {
      const bool fits =
          pattern.starts_with('*') ? name.ends_with(pattern.substr(1)) : name == pattern;
      if (fits) read(*folder + "/" + name);
    }
  }

  const FileSystemView& view_;
  std::vector<std::string> folders_;
  std::set<std::string> seen_;
};

// A line is a name, and may be followed by the word size of the apps that it is for and by
// nopreload.
bool lists(const std::string& line, const std::string& name, int bits) {
  std::vector<std::string> words = split(std::string(trim(line)), ' ');
  if (words.front() != name) return false;
  const auto has = [&](const char* word) {
    return std::find(words.begin() + 1, words.end(), word) != words.end();
  };
  return bits == 64 ? !has("32") : !has("64");
}

bool listed_for_apps(const FileSystemView& view, const std::string& name, int bits) {
  for (const char* folder : kListFolders) {
    const auto real = resolve(view, folder);
    if (!real) continue;
    int most = 16;
    for (const std::string& file : view.names(*real)) {
      if (!file.starts_with("public.libraries") || --most < 0) continue;
      const auto text = view.text(*real + "/" + file, kLargestText);
      if (!text) continue;
      for (const std::string& line : split(*text, '\n')) {
        if (lists(line, name, bits)) return true;
      }
    }
  }
  return false;
}

// LD_LIBRARY_PATH, whose folders are searched by path.
std::vector<std::string> variable_folders(const LinkerSetting& setting) {
  std::vector<std::string> folders;
  for (const std::string& folder : split(setting.variable("LD_LIBRARY_PATH"), ':'))
    add_once(folders, folder);
  return folders;
}

// So are those that are built into the linker.
std::vector<std::string> built_in_folders(const LinkerSetting& setting) {
  std::vector<std::string> folders;
  if (const std::string triplet = triplet_of(setting.abi); !triplet.empty()) {
    for (const char* top : {"/lib/", "/usr/lib/"}) folders.push_back(top + triplet);
  }
  for (const char* top : {"/lib", "/usr/lib"}) {
    add_once(folders, top + std::string(setting.abi.bits == 64 ? "64" : "32"));
    add_once(folders, top);
  }
  return folders;
}

// Those of the partitions, then those of the modules, which hold much of what drivers need.
void add_android_folders(const FileSystemView& view, const std::string& lib,
                         std::vector<std::string>& folders) {
  for (const char* top : kAndroidTops) {
    for (const char* below : {"", "/egl", "/hw", "/chipsetsdk"})
      add_once(folders, top + lib + below);
  }
  const auto modules = resolve(view, "/apex");
  std::vector<std::string> names = modules ? view.names(*modules) : std::vector<std::string>();
  if (names.size() > kMostApexes) names.resize(kMostApexes);
  for (const std::string& name : names) {
    for (const char* below : {"", "/bionic"})
      add_once(folders, *modules + "/" + name + lib + below);
  }
}

class Opener {
 public:
  Opener(const FileSystemView& view, const LinkerSetting& setting)
      : view_(view),
        setting_(setting),
        folders_(library_folders(view, setting)),
        listed_(cache_folders(setting)) {}

  Opening open(const std::string& name) {
    Opening found = find(name, folders_);
    if (found.outcome != Opening::Outcome::kOpened) return found;
    if (!accessible(name, found)) return found;
    add_symbols(found, found.library);
    whole_system_ =
        find(setting_.system == System::kLinux ? "libc.so.6" : "libc.so", folders_).outcome ==
        Opening::Outcome::kOpened;
    load_needed(found, found.library, found.path);
    return found;
  }

 private:
  // The first file of the right ABI; of the wrong ones, the first is told. In the first `by_path`
  // folders files count whatever ldconfig makes of them.
  Opening find(const std::string& name, const std::vector<std::string>& folders,
               size_t by_path = 0) {
    Opening best;
    if (name.find('/') != std::string::npos) {
      inspect(name, best);
      return best;
    }
    for (size_t i = 0; i < folders.size(); ++i) {
      Opening here;
      inspect(folders[i] + "/" + name, here);
      if (i >= by_path && !is_listed(folders[i], name, here.library)) continue;
      if (here.outcome == Opening::Outcome::kOpened) return here;
      if (best.outcome == Opening::Outcome::kAbsent) best = here;
    }
    return best;
  }

  // ldconfig lists a library by its SONAME; a link by its own name, where the SONAME begins with
  // it.
  bool is_listed(const std::string& folder, const std::string& name,
                 const ElfLibrary& library) const {
    const std::string& soname = library.soname;
    if (soname.empty() || soname == name || listed_.count(folder) == 0) return true;
    const auto real = resolve(view_, folder);
    const auto entry = real ? view_.entry(*real + "/" + name) : std::nullopt;
    return entry && entry->kind == FileEntry::Kind::kLink && name.ends_with(".so") &&
           soname.starts_with(name);
  }

  void inspect(const std::string& path, Opening& found) {
    const auto real = resolve(view_, path);
    if (!real) return;
    found.path = *real;
    auto library = view_.library(*real);
    if (!library) {
      found.outcome = Opening::Outcome::kNoLibrary;
      found.detail = library.error().message;
      return;
    }
    found.library = std::move(*library);
    const Abi abi{found.library.bits, found.library.machine};
    const bool fits = abi == setting_.abi || setting_.abi == Abi{};
    found.outcome = fits ? Opening::Outcome::kOpened : Opening::Outcome::kWrongAbi;
    if (!fits)
      found.detail = fmt::format("built for {}, not for {}", abi_name(abi), abi_name(setting_.abi));
  }

  bool accessible(const std::string& name, Opening& found) {
    if (setting_.system != System::kAndroid) return true;
    const bool bare = name.find('/') == std::string::npos;
    if (bare && listed_for_apps(view_, name, setting_.abi.bits)) return true;
    found.outcome = Opening::Outcome::kNotAccessible;
    found.detail = bare ? "no public.libraries.txt lists it for apps of this word size"
                        : "apps can open it only by its name without a folder";
    return false;
  }

  static void add_symbols(Opening& found, const ElfLibrary& library) {
    found.symbols.insert(library.exports.begin(), library.exports.end());
  }

  static std::vector<std::string> own_folders(const ElfLibrary& library, const std::string& path) {
    std::vector<std::string> folders;
    for (std::string folder : split(library.runpath, ':')) {
      for (const std::string word : {"${ORIGIN}", "$ORIGIN"}) {
        if (const size_t at = folder.find(word); at != std::string::npos)
          folder.replace(at, word.size(), folder_of(path));
      }
      add_folder(folders, folder);
    }
    return folders;
  }

  // A tree without its C library is a part of one: what it lacks says nothing.
  void load_needed(Opening& found, const ElfLibrary& library, const std::string& path) {
    std::vector<std::string> folders = own_folders(library, path);
    const size_t own = folders.size();
    folders.insert(folders.end(), folders_.begin(), folders_.end());
    for (const std::string& name : library.needed) {
      if (seen_.size() >= kMostLibraries || !seen_.insert(name).second) continue;
      if (name.starts_with("ld-linux")) continue;  // the linker itself is in every process
      const Opening needed = find(name, folders, own);
      if (needed.outcome == Opening::Outcome::kOpened) {
        add_symbols(found, needed.library);
        load_needed(found, needed.library, needed.path);
      } else if (whole_system_ && found.outcome == Opening::Outcome::kOpened) {
        found.outcome = Opening::Outcome::kDependency;
        found.detail = name;
      }
    }
  }

  const FileSystemView& view_;
  const LinkerSetting& setting_;
  const std::vector<std::string> folders_;
  const std::set<std::string> listed_;  // those in which a name counts only where ldconfig lists it
  std::set<std::string> seen_;
  bool whole_system_ = false;
};

std::optional<Abi> abi_of_file(const FileSystemView& view, const std::string& path) {
  const auto real = resolve(view, path);
  if (!real) return std::nullopt;
  const auto library = view.library(*real);
  if (!library) return std::nullopt;
  return Abi{library->bits, library->machine};
}

Abi abi_of_view(const FileSystemView& view) {
  for (const char* path : kSystemFiles) {
    if (const auto abi = abi_of_file(view, path)) return *abi;
  }
  for (const Machine& row : kMachines) {
    const std::string libc = std::string("/usr/lib/") + row.triplet + "/libc.so.6";
    if (const auto abi = abi_of_file(view, libc)) return *abi;
  }
  std::map<std::pair<int, uint16_t>, int> counts;
  Abi most = kOwnAbi;
  int highest = 0;
  for (const std::string& path : scan_libraries(view)) {
    const auto abi = abi_of_file(view, path);
    if (!abi) continue;
    const int count = ++counts[{abi->bits, abi->machine}];
    if (count > highest) highest = count, most = *abi;
  }
  return most;
}

}  // namespace

const char* to_string(System system) {
  switch (system) {
    case System::kAndroid:
      return "android";
    case System::kOpenHarmony:
      return "openharmony";
    default:
      return "linux";
  }
}

const char* to_string(Opening::Outcome outcome) {
  switch (outcome) {
    case Opening::Outcome::kOpened:
      return "opened";
    case Opening::Outcome::kWrongAbi:
      return "wrong-abi";
    case Opening::Outcome::kDependency:
      return "missing-dependency";
    case Opening::Outcome::kNotAccessible:
      return "not-accessible";
    case Opening::Outcome::kNoLibrary:
      return "no-library";
    default:
      return "absent";
  }
}

Abi own_abi() { return kOwnAbi; }

std::string abi_name(const Abi& abi) {
  for (const auto& row : kMachines) {
    if (row.abi == abi) return row.name;
  }
  return fmt::format("machine {} ({} bits)", abi.machine, abi.bits);
}

std::string triplet_of(const Abi& abi) {
  for (const auto& row : kMachines) {
    if (row.abi == abi) return row.triplet;
  }
  return {};
}

LinkerSetting setting_of(const FileSystemView& view) {
  LinkerSetting setting;
  if (exists(view, "/vendor/lib64/chipsetsdk")) {
    setting.system = System::kOpenHarmony;
  } else if (exists(view, "/system/build.prop") || exists(view, "/system/bin/linker64") ||
             exists(view, "/system/bin/linker") ||
             exists(view, "/vendor/etc/public.libraries.txt")) {
    setting.system = System::kAndroid;
  }
  setting.abi = abi_of_view(view);
  if (setting.system == System::kLinux) setting.conf_folders = conf_folders(view);
  return setting;
}

std::string LinkerSetting::variable(const std::string& name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

std::vector<std::string> conf_folders(const FileSystemView& view) {
  return LinkerConf(view).take();
}

std::vector<std::string> library_folders(const FileSystemView& view, const LinkerSetting& setting) {
  std::vector<std::string> folders = variable_folders(setting);
  if (setting.system != System::kLinux) {
    const std::string width = setting.abi.bits == 64 ? "64" : "";
    add_android_folders(view, "/lib" + width, folders);
    return folders;
  }
  for (const std::string& folder : setting.conf_folders) add_folder(folders, folder);
  for (const std::string& folder : built_in_folders(setting)) add_once(folders, folder);
  return folders;
}

Opening open_library(const FileSystemView& view, const LinkerSetting& setting,
                     const std::string& name) {
  return Opener(view, setting).open(name);
}

std::set<std::string> cache_folders(const LinkerSetting& setting) {
  std::set<std::string> found(setting.conf_folders.begin(), setting.conf_folders.end());
  for (const std::string& folder : variable_folders(setting)) found.erase(folder);
  for (const std::string& folder : built_in_folders(setting)) found.erase(folder);
  return found;
}

}  // namespace clvet
