// clvet_kernel_dump DIR: writes each distinct program of the kernels in $CLVET_TEST_KERNELS
// (tests/kernels/ kernel_folder.cpp) to DIR/<name>.cl. The first line holds its build options, the
// second its constructs, the rest is the text a driver would get.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "kernels/catalog.h"

namespace {

std::string file_name(std::string name) {
  for (char& c : name) c = c == '/' ? '.' : c;
  return name + ".cl";
}

bool write_program(const std::filesystem::path& path, const clvet::Program& program) {
  std::ofstream out(path);
  out << "// options: " << program.options << "\n// constructs:";
  for (const std::string& word : program.constructs) out << ' ' << word;
  out << '\n';
  for (const clvet::Source& source : program.sources) out << *source << '\n';
  return out.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: clvet_kernel_dump DIR\n");
    return 2;
  }
  const auto catalog = clvet::Catalog::embedded();
  if (!catalog) {
    std::fprintf(stderr, "%s\n", catalog.error().message.c_str());
    return 4;
  }
  std::filesystem::create_directories(argv[1]);
  std::set<std::string> keys;
  for (const clvet::Manifest& manifest : catalog->manifests()) {
    for (const clvet::Variant& variant : clvet::variants_of(manifest)) {
      const auto program = clvet::program_of(variant);
      if (!program) {
        std::fprintf(stderr, "%s\n", program.error().message.c_str());
        return 4;
      }
      if (!keys.insert(program->key).second) continue;
      if (!write_program(std::filesystem::path(argv[1]) / file_name(variant.name()), *program)) {
        std::fprintf(stderr, "cannot write below %s\n", argv[1]);
        return 4;
      }
    }
  }
  return 0;
}
