// Writes small shared libraries for tests, of any ABI: real ones, which a linker loads. Each
// function that they export returns 0.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace clvet::test {

struct ElfSpec {
  int bits = 64;
  uint16_t machine = EM_AARCH64;
  std::string soname, runpath;
  std::vector<std::string> needed, symbols, undefined, versions;
  bool gnu_hash = false;  // in place of the plain table
  std::string on_load;    // machine code that the linker calls
  std::string tail;       // bytes behind everything
};

// The bytes of the library.
std::string write_elf(const ElfSpec& spec);

}  // namespace clvet::test
