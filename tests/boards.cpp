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

std::string elf_of(const nlohmann::json& row) {
  const std::map<std::string, std::pair<int, uint16_t>> machines = {{"aarch64", {64, EM_AARCH64}},
                                                                    {"arm", {32, EM_ARM}},
                                                                    {"x86-64", {64, EM_X86_64}},
                                                                    {"riscv64", {64, EM_RISCV}},
                                                                    {"i386", {32, EM_386}}};
  ElfSpec spec = library_of_kind(row.value("kind", "plain"));
  std::tie(spec.bits, spec.machine) = machines.at(row.at("elf"));
  spec.soname = row.value("soname", "");
  spec.needed = row.value("needed", std::vector<std::string>());
  spec.gnu_hash = row.value("gnu_hash", true);
  spec.tail = row.value("holds", "");
  return write_elf(spec);
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

void build_tree(const nlohmann::json& tree, const std::string& root) {
  namespace fs = std::filesystem;
  for (const auto& [path, row] : tree.items()) {
    const std::string file = root + path;
    fs::create_directories(fs::path(file).parent_path());
    fs::remove(file);
    if (row.contains("link")) {
      fs::create_symlink(row.at("link").get<std::string>(), file);
    } else if (row.contains("folder")) {
      fs::create_directories(file);
    } else {
      put(file, row.contains("elf") ? elf_of(row) : row.at("text").get<std::string>());
      ::chmod(file.c_str(), static_cast<mode_t>(std::stoul(row.value("mode", "0644"), nullptr, 8)));
    }
  }
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
