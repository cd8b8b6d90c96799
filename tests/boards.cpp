#include "tests/boards.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tests/elf_writer.h"
#include "tests/support.h"

namespace clvet::test {
namespace {

std::vector<std::string> opencl_symbols() {
  return {"clGetPlatformIDs",
          "clGetPlatformInfo",
          "clGetDeviceIDs",
          "clGetDeviceInfo",
          "clCreateContext",
          "clCreateCommandQueue",
          "clCreateBuffer",
          "clCreateImage",
          "clCreateImage2D",
          "clCreateProgramWithSource",
          "clCreateProgramWithBinary",
          "clBuildProgram",
          "clCreateKernel",
          "clReleaseKernel",
          "clSetKernelArg",
          "clEnqueueNDRangeKernel",
          "clEnqueueReadBuffer",
          "clEnqueueReadBufferRect",
          "clFinish",
          "clGetExtensionFunctionAddressForPlatform"};
}

std::string elf_of(const TreeEntry& entry) {
  const std::map<std::string, std::pair<int, uint16_t>> machines = {{"aarch64", {64, EM_AARCH64}},
                                                                    {"arm", {32, EM_ARM}},
                                                                    {"x86-64", {64, EM_X86_64}},
                                                                    {"riscv64", {64, EM_RISCV}},
                                                                    {"i386", {32, EM_386}}};
  ElfSpec spec = library_of_kind(entry.body);
  std::tie(spec.bits, spec.machine) = machines.at(entry.abi);
  spec.soname = entry.soname;
  spec.needed = entry.needed;
  spec.gnu_hash = entry.gnu_hash;
  spec.tail = entry.holds;
  return write_elf(spec);
}

TreeEntry entry_of(const nlohmann::json& row) {
  if (row.contains("link")) return link(row.at("link").get<std::string>());
  if (row.contains("folder")) return folder();
  TreeEntry entry;
  if (row.contains("elf")) {
    entry =
        elf(row.value("kind", "plain"), row.value("soname", ""), row.at("elf").get<std::string>());
    entry.needed = row.value("needed", std::vector<std::string>());
    entry.gnu_hash = row.value("gnu_hash", true);
    entry.holds = row.value("holds", "");
  } else {
    entry = text(row.at("text").get<std::string>());
  }
  entry.mode = row.value("mode", "0644");
  return entry;
}

}  // namespace

ElfSpec library_of_kind(const std::string& kind) {
  ElfSpec spec;
  if (kind == "loader" || kind == "vendor" || kind == "no-icd") spec.symbols = opencl_symbols();
  if (kind == "loader" || kind == "vendor" || kind == "icd-only")
    spec.symbols.push_back("clGetExtensionFunctionAddress");
  if (kind == "vendor" || kind == "icd-only") spec.symbols.push_back("clIcdGetPlatformIDsKHR");
  if (kind == "loader") spec.versions = {"OPENCL_1.0", "OPENCL_1.1", "OPENCL_2.0"};
  if (kind == "egl") spec.symbols = {"eglInitialize", "eglGetDisplay"};
  if (kind == "layer") spec.symbols = {"clGetLayerInfo", "clInitLayer"};
  if (kind == "google") spec.symbols = {"enableOpenCL", "loadOpenCLPointer"};
  return spec;
}

TreeEntry text(const std::string& body) { return {TreeEntry::Is::kText, body}; }

TreeEntry link(const std::string& target) { return {TreeEntry::Is::kLink, target}; }

TreeEntry folder() { return {TreeEntry::Is::kFolder}; }

TreeEntry elf(const std::string& kind, const std::string& soname, const std::string& abi) {
  return {TreeEntry::Is::kLibrary, kind, abi, soname};
}

Tree with(Tree tree, const Tree& more) {
  for (const auto& [path, entry] : more) tree[path] = entry;
  return tree;
}

void build_tree(const Tree& tree, const std::string& root) {
  namespace fs = std::filesystem;
  for (const auto& [path, entry] : tree) {
    const std::string file = root + path;
    fs::create_directories(fs::path(file).parent_path());
    fs::remove(file);
    if (entry.is == TreeEntry::Is::kLink) {
      fs::create_symlink(entry.body, file);
    } else if (entry.is == TreeEntry::Is::kFolder) {
      fs::create_directories(file);
    } else {
      put(file, entry.is == TreeEntry::Is::kLibrary ? elf_of(entry) : entry.body);
      ::chmod(file.c_str(), static_cast<mode_t>(std::stoul(entry.mode, nullptr, 8)));
    }
  }
}

void build_board(const nlohmann::json& tree, const std::string& root) {
  Tree entries;
  for (const auto& [path, row] : tree.items()) entries[path] = entry_of(row);
  build_tree(entries, root);
}

std::map<std::string, std::string> read_tree(const std::string& root) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string path = entry.path().string().substr(root.size());
    struct stat info {};
    ::lstat(entry.path().c_str(), &info);
    std::string what = std::to_string(info.st_mode) + ":";
    if (entry.is_symlink()) {
      what += fs::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      what += get(entry.path().string());
    }
    found[path] = what;
  }
  return found;
}

nlohmann::json board(const std::string& name) {
  return nlohmann::json::parse(
      get(std::string(CLVET_SOURCE_DIR) + "/tests/data/boards/" + name + ".json"));
}

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(CLVET_SOURCE_DIR) + "/tests/data/boards")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace clvet::test
