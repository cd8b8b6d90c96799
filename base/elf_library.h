// What a shared library says of itself, read without loading it: for another machine's files too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {

struct ElfLibrary {
  int bits = 0;          // 32 or 64
  uint16_t machine = 0;  // EM_* of <elf.h>
  std::string soname, runpath;
  std::vector<std::string> needed;
  std::vector<std::string> exports;   // defined dynamic symbols that the filter takes
  std::vector<std::string> versions;  // symbol versions that it defines
};

using SymbolFilter = bool (*)(std::string_view name);

// A program or library without a dynamic section has class and machine alone. kInvalidArgument
// where the bytes are no little-endian ELF file, or a table of its lies outside them. Counts are
// bounded: at most 2^20 symbols and 4096 entries of any other table are read, 4096 exports kept; a
// name of 4096 bytes or more counts as none.
Result<ElfLibrary> parse_elf_library(std::span<const std::byte> file, SymbolFilter wanted);

// The same of a file; the message of an error names it.
Result<ElfLibrary> read_elf_library(const std::string& path, SymbolFilter wanted);

// Those of `names` that the library defines, in the order of `names`, looked up as the linker does:
// by its hash tables. However large the file is, a few of its pages are read. Errors are
// parse_elf_library's.
Result<std::vector<std::string>> find_exports(std::span<const std::byte> file,
                                              std::span<const std::string_view> names);
Result<std::vector<std::string>> find_exports(const std::string& path,
                                              std::span<const std::string_view> names);

}  // namespace clvet
