#include "probe/files/loader_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/elf_library.h"
#include "base/pattern.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

constexpr size_t kLargestLoader = 8 << 20;
constexpr size_t kMostNames = 64;  // of libraries in one variable

// What a reader takes in a variable. kValue: a word, of which we do not judge.
enum Takes : unsigned {
  kNothing = 0,
  kFolder = 1,
  kIcdFile = 2,
  kLibrary = 4,
  kLibraries = 8,
  kFile = 16,
  kValue = 32,
  kWords = 64  // of a list, each perhaps with ":number"
};

struct LoaderVariable {
  const char* name;
  unsigned ocl_icd, khronos;
};
constexpr LoaderVariable kOfLoaders[] = {
    {"OCL_ICD_VENDORS", kFolder | kIcdFile | kLibrary, kFolder},
    {"OPENCL_VENDOR_PATH", kFolder, kNothing},
    {"OCL_ICD_FILENAMES", kNothing, kLibraries},
    {"OPENCL_LAYERS", kLibraries, kLibraries},
    {"OPENCL_LAYER_PATH", kFolder, kFolder},
    {"OCL_ICD_ASSUME_ICD_EXTENSION", kValue, kNothing},
    {"OCL_ICD_PLATFORM_SORT", kValue, kNothing},
    {"OCL_ICD_DEFAULT_PLATFORM", kValue, kNothing},
    {"OCL_ICD_DEBUG", kValue, kNothing},
    {"OCL_ICD_ENABLE_TRACE", kNothing, kValue},
    {"OCL_ICD_FORCE_LEGACY_TERMINATION", kNothing, kValue},
    {"OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING", kNothing, kValue}};

struct ProgramVariable {
  const char *name, *reader;
  unsigned takes;
  const char* words;  // taken as well; of kWords all there are
};
constexpr ProgramVariable kOfPrograms[] = {
    {"LIBOPENCL_SO_PATH", "libopencl-stub", kFile, ""},
    {"LIBOPENCL_SO_PATH_2", "libopencl-stub", kFile, ""},
    {"LIBOPENCL_SO_PATH_3", "libopencl-stub", kFile, ""},
    {"LIBOPENCL_SO_PATH_4", "libopencl-stub", kFile, ""},
    {"OPENCV_OPENCL_RUNTIME", "OpenCV", kLibrary, "disabled"},
    {"OPENCV_OPENCL_DEVICE", "OpenCV", kValue, ""},
    {"GGML_OPENCL_PLATFORM", "llama.cpp", kValue, ""},
    {"GGML_OPENCL_DEVICE", "llama.cpp", kValue, ""},
    {"OPENCL_MEMORY_CONFIG_FILE", "Paddle-Lite", kValue, ""},
    {"POCL_DEVICES", "PoCL", kValue, ""},
    {"RUSTICL_ENABLE", "Mesa's rusticl", kWords,
     "asahi freedreno iris llvmpipe lp nouveau panfrost r600 radeonsi softpipe swrast tegra v3d "
     "vc4 virgl zink"},
    {"RUSTICL_FEATURES", "Mesa's rusticl", kWords, "fp16 fp64"}};

std::string words_for(unsigned takes) {
  constexpr std::pair<unsigned, const char*> kTexts[] = {
      {kFolder, "folder"},       {kIcdFile, ".icd file"},   {kLibrary, "library"},
      {kLibraries, "libraries"}, {kFile, "path of a file"}, {kValue, "value"}};
  std::string text;
  for (const auto& [bit, word] : kTexts) {
    if (takes & bit) text += (text.empty() ? "" : ", ") + std::string(word);
  }
  return text;
}

// What a reader takes, for a person.
std::string words_for(const ProgramVariable& row) {
  return row.takes & kWords ? std::string(row.words) : words_for(row.takes);
}

// Each of a list that commas part is one of `words`.
bool all_known(const std::string& value, const std::string& words) {
  const std::vector<std::string> known = split(words, ' ');
  const std::vector<std::string> given = split(value, ',');
  return std::all_of(given.begin(), given.end(), [&](const std::string& raw) {
    const std::string word(trim(std::string_view(raw).substr(0, raw.find(':'))));
    return std::find(known.begin(), known.end(), word) != known.end();
  });
}

// A string of its own in the file: loaders hold the names of the variables that they read.
bool holds_string(std::string_view bytes, std::string_view text) {
  for (size_t at = bytes.find(text); at != std::string_view::npos; at = bytes.find(text, at + 1)) {
    const size_t end = at + text.size();
    const bool begins = at == 0 || bytes[at - 1] == '\0';
    const bool ends = end == bytes.size() || bytes[end] == '\0';
    if (begins && ends) return true;
  }
  return false;
}

// The only string in the file that is a version by its form; both loaders answer with it.
std::string version_in(std::string_view bytes) {
  static const Pattern form(R"([0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})");
  std::string found;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min(bytes.find('\0', at), bytes.size());
    const std::string text(bytes.substr(at, std::min<size_t>(end - at, 20)));
    at = end + 1;
    if (text.size() > 14 || !form.fits(text) || text == found) continue;
    if (!found.empty()) return {};
    found = text;
  }
  return found;
}

// One that is not lies below the folder that we run in.
std::string absolute_path(const std::string& path) {
  std::error_code error;
  if (path.starts_with('/')) return path;
  return (std::filesystem::current_path(error) / path).lexically_normal().string();
}

// Of a list; an empty one is that folder.
std::string absolute_folders(const std::string& list) {
  if (list.empty()) return list;
  std::vector<std::string> folders = split(list, ':');
  for (std::string& folder : folders) folder = absolute_path(folder);
  return fmt::format("{}", fmt::join(folders, ":"));
}

bool is_folder(const FileSystemView& view, const std::string& path) {
  const auto real = resolve(view, path);
  const auto entry = real ? view.entry(*real) : std::nullopt;
  return !path.empty() && entry && entry->kind == FileEntry::Kind::kFolder;
}

bool opens(const FileSystemView& view, const LinkerSetting& setting, const std::string& name) {
  return !name.empty() && open_library(view, setting, name).outcome == Opening::Outcome::kOpened;
}

bool fits(const FileSystemView& view, const LinkerSetting& setting, unsigned takes,
          const std::string& value) {
  if (takes & kValue) return true;
  if ((takes & kFolder) && is_folder(view, value)) return true;
  if ((takes & kIcdFile) && value.ends_with(".icd"))
    return value.find('/') == std::string::npos || exists(view, value);
  if ((takes & kFile) && value.find('/') != std::string::npos && exists(view, value)) return true;
  if ((takes & kLibrary) && opens(view, setting, value)) return true;
  if (!(takes & kLibraries)) return false;
  const std::vector<std::string> names = split(value, ':');
  return names.size() <= kMostNames &&
         std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return opens(view, setting, name); });
}

unsigned taken_by(const LoaderInView& loader, const LoaderVariable& row) {
  const unsigned takes = loader.kind == LoaderKind::kOclIcd    ? row.ocl_icd
                         : loader.kind == LoaderKind::kKhronos ? row.khronos
                                                               : kNothing;
  const bool read = loader.reads.empty() || loader.reads.count(row.name) > 0;
  return read ? takes : kNothing;
}

// ocl-icd looks at OPENCL_VENDOR_PATH where OCL_ICD_VENDORS is not set, or is the bare name of an
// ICD file in it.
bool is_behind(const LinkerSetting& setting, const std::string& name) {
  if (name != "OPENCL_VENDOR_PATH") return false;
  const std::string other = setting.variable("OCL_ICD_VENDORS");
  if (other.empty()) return false;
  return !other.ends_with(".icd") || other.find('/') != std::string::npos;
}

// Set to nothing is as not set, but for the Khronos loader's folder: that is then none.
bool harmless(const LoaderInView& loader, unsigned takes, const std::string& value) {
  return value.empty() && (loader.kind != LoaderKind::kKhronos || !(takes & kFolder));
}

VariableInView judge(const FileSystemView& view, const LinkerSetting& setting,
                     const LoaderInView& loader, const LoaderVariable& row,
                     const std::string& value) {
  VariableInView found{row.name, value, "honoured", {}, to_string(loader.kind), {}};
  const unsigned takes = taken_by(loader, row);
  found.takes = words_for(takes);
  if (takes == kNothing) {
    found.state = "ignored";
  } else if (is_behind(setting, row.name)) {
    found.state = "behind";
    found.other = "OCL_ICD_VENDORS";
  } else if (!harmless(loader, takes, value) && !fits(view, setting, takes, value)) {
    found.state = "useless";
  }
  return found;
}

}  // namespace

bool is_loader(const ElfLibrary& library) {
  return std::any_of(library.versions.begin(), library.versions.end(),
                     [](const std::string& name) { return name.starts_with("OPENCL_"); });
}

LoaderInView loader_in(const FileSystemView& view, const Opening& opening) {
  LoaderInView found;
  if (opening.outcome != Opening::Outcome::kOpened) return found;
  found.path = opening.path;
  found.kind = LoaderKind::kVendor;
  if (!is_loader(opening.library)) return found;
  found.kind = LoaderKind::kUnknown;
  const auto bytes = view.text(opening.path, kLargestLoader);
  if (!bytes) return found;
  // The second is for those from before they told their name, as CUDA has them.
  if (bytes->find("Khronos OpenCL ICD Loader") != std::string::npos ||
      holds_string(*bytes, "OCL_ICD_FILENAMES"))
    found.kind = LoaderKind::kKhronos;
  if (bytes->find("OCL Icd free software") != std::string::npos) found.kind = LoaderKind::kOclIcd;
  if (found.kind != LoaderKind::kUnknown) found.version = version_in(*bytes);
  for (const LoaderVariable& row : kOfLoaders) {
    if (holds_string(*bytes, row.name)) found.reads.insert(row.name);
  }
  return found;
}

LoaderInView loader_in_use(const FileSystemView& view, const LinkerSetting& setting) {
  LoaderInView found = loader_in(view, open_library(view, setting, "libOpenCL.so.1"));
  return found.kind != LoaderKind::kNone
             ? found
             : loader_in(view, open_library(view, setting, "libOpenCL.so"));
}

std::vector<VariableInView> variables_in(const FileSystemView& view, const LinkerSetting& setting,
                                         const LoaderInView& loader) {
  std::vector<VariableInView> found;
  const bool known = loader.kind != LoaderKind::kNone && loader.kind != LoaderKind::kUnknown;
  for (const LoaderVariable& row : kOfLoaders) {
    const auto set = setting.variables.find(row.name);
    if (known && set != setting.variables.end())
      found.push_back(judge(view, setting, loader, row, set->second));
  }
  for (const ProgramVariable& row : kOfPrograms) {
    const auto set = setting.variables.find(row.name);
    if (set == setting.variables.end() || set->second.empty()) continue;
    const bool good = row.takes & kWords
                          ? all_known(set->second, row.words)
                          : set->second == row.words || fits(view, setting, row.takes, set->second);
    found.push_back(
        {row.name, set->second, good ? "honoured" : "useless", words_for(row), row.reader, {}});
  }
  return found;
}

std::vector<std::string> known_variables() {
  std::vector<std::string> names = {"LD_LIBRARY_PATH"};
  for (const auto& row : kOfLoaders) names.emplace_back(row.name);
  for (const auto& row : kOfPrograms) names.emplace_back(row.name);
  return names;
}

std::string absolute_place(const std::string& value) {
  std::error_code error;
  const bool place =
      value.find('/') != std::string::npos || std::filesystem::is_directory(value, error);
  return place ? absolute_path(value) : value;
}

std::map<std::string, std::string> own_variables() {
  std::map<std::string, std::string> found;
  for (const std::string& name : known_variables()) {
    if (const char* value = std::getenv(name.c_str())) found[name] = value;
  }
  if (const auto path = found.find("LD_LIBRARY_PATH"); path != found.end())
    path->second = absolute_folders(path->second);
  for (const char* name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"}) {
    if (const auto place = found.find(name); place != found.end())
      place->second = absolute_place(place->second);
  }
  return found;
}

std::map<std::string, std::string> variables_of_tree(const FileSystemView& view) {
  std::map<std::string, std::string> found;
  const auto real = resolve(view, "/etc/environment");
  const auto text = real ? view.text(*real, 1 << 20) : Result<std::string>(std::string());
  if (!text) return found;
  const std::vector<std::string> names = known_variables();
  for (const std::string& raw : split(*text, '\n')) {
    std::string_view line = trim(raw);
    if (line.starts_with("export ")) line = trim(line.substr(7));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(line.substr(0, equals));
    std::string_view value = line.substr(equals + 1);
    const bool quoted =
        value.size() > 1 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0];
    if (quoted) value = value.substr(1, value.size() - 2);
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (known && name != "LD_LIBRARY_PATH") found[name] = std::string(value);
  }
  return found;
}

}  // namespace clvet
