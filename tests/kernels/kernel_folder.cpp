// Takes the place of the embedded kernel files in clvet_kernel_folder, a clvet for tests alone: its
// kernels are the .cl, .clh and .json files below the folder $CLVET_TEST_KERNELS, read when it
// starts.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/file.h"

namespace clvet {
namespace {

std::map<std::string, std::string> read_folder(const std::filesystem::path& folder) {
  std::map<std::string, std::string> texts;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    const std::string kind = entry.path().extension();
    if (kind != ".cl" && kind != ".clh" && kind != ".json") continue;
    auto text = read_file(entry.path());
    if (text) texts[std::filesystem::relative(entry.path(), folder)] = std::move(*text);
  }
  return texts;
}

}  // namespace

std::span<const EmbeddedFile> embedded_kernels() {
  static const std::map<std::string, std::string> texts = [] {
    const char* folder = std::getenv("CLVET_TEST_KERNELS");
    auto found = read_folder(folder ? folder : "");
    if (found.empty()) {
      std::fprintf(stderr, "CLVET_TEST_KERNELS names no folder with kernels\n");
      std::_Exit(2);
    }
    return found;
  }();
  static const std::vector<EmbeddedFile> files = [] {
    std::vector<EmbeddedFile> rows;
    for (const auto& [path, text] : texts) rows.push_back({path, text});
    return rows;
  }();
  return files;
}

}  // namespace clvet
