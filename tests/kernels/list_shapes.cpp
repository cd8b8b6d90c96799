// clvet_kernel_shapes KERNEL N: the names of the N smallest shapes on which this kernel of
// $CLVET_TEST_KERNELS (tests/kernels/kernel_folder.cpp) is tried, one a line. Exit 2: there is no
// such kernel, or it has no shape.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/catalog.h"

namespace {

// The product of the sizes: the dims whose names are upper case.
double work_of(const clvet::TestShape& shape) {
  double product = 1;
  for (const auto& [name, value] : shape.dims) {
    const bool size = std::none_of(name.begin(), name.end(),
                                   [](unsigned char c) { return std::islower(c) != 0; });
    if (size && value > 0) product *= static_cast<double>(value);
  }
  return product;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: clvet_kernel_shapes KERNEL N\n");
    return 2;
  }
  const auto catalog = clvet::Catalog::embedded();
  if (!catalog) {
    std::fprintf(stderr, "%s\n", catalog.error().message.c_str());
    return 4;
  }
  const clvet::Manifest* manifest = catalog->find(argv[1]);
  if (!manifest || manifest->tests.empty()) {
    std::fprintf(stderr, "%s: %s\n", argv[1], manifest ? "it has no shape" : "no such kernel");
    return 2;
  }
  std::vector<clvet::TestShape> shapes = manifest->tests;
  std::ranges::stable_sort(shapes, {}, work_of);
  const auto count = std::min<size_t>(shapes.size(), std::strtoull(argv[2], nullptr, 10));
  for (size_t i = 0; i < count; ++i) std::puts(shapes[i].name.c_str());
  return 0;
}
