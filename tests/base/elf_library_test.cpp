#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <stdio.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/elf_library.h"
#include "base/result.h"
#include "tests/elf_writer.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool starts_with_cl(std::string_view name) { return name.starts_with("cl"); }

Result<ElfLibrary> parse(const std::string& bytes) {
  return parse_elf_library(std::as_bytes(std::span(bytes)), starts_with_cl);
}

std::vector<std::string> find(const std::string& bytes) {
  constexpr std::string_view kNames[] = {"clFinish", "clNotHere", "clGetPlatformIDs", "clFinis"};
  return find_exports(std::as_bytes(std::span(bytes)), kNames).value_or(std::vector<std::string>());
}

test::ElfSpec spec(int bits, uint16_t machine, bool gnu_hash) {
  return {bits,
          machine,
          "libmali.so.1",
          "$ORIGIN",
          {"libc.so.6", "libdrm.so.2"},
          {"clGetPlatformIDs", "eglInitialize", "clFinish"},
          {"clNotHere", "malloc"},
          {"OPENCL_1.0", "OPENCL_1.1"},
          gnu_hash,
          {}};
}

TEST(ElfLibrary, TellsWhatALinkerReadsInEveryClassAndTable) {
  for (const auto& [bits, machine] : {std::pair<int, uint16_t>{64, EM_AARCH64},
                                      {64, EM_RISCV},
                                      {64, EM_X86_64},
                                      {32, EM_ARM},
                                      {32, EM_386}}) {
    for (const bool gnu_hash : {false, true}) {
      const auto library = parse(test::write_elf(spec(bits, machine, gnu_hash)));
      ASSERT_TRUE(library) << library.error().message;
      EXPECT_EQ(library->bits, bits);
      EXPECT_EQ(library->machine, machine);
      EXPECT_EQ(library->soname, "libmali.so.1");
      EXPECT_EQ(library->runpath, "$ORIGIN");
      EXPECT_THAT(library->needed, ElementsAre("libc.so.6", "libdrm.so.2"));
      EXPECT_THAT(library->exports, ElementsAre("clGetPlatformIDs", "clFinish"));
      EXPECT_THAT(library->versions, ElementsAre("OPENCL_1.0", "OPENCL_1.1"));
    }
  }
}

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char part[4096];
  while (const size_t size = ::fread(part, 1, sizeof part, pipe)) out.append(part, size);
  ::pclose(pipe);
  return out;
}

// What the tests' own libraries are is said by others: binutils and this system's linker.
TEST(TestLibrary, IsWhatReadelfReadsInEveryClassAndTable) {
  const test::TempDir dir;
  for (const auto& [bits, machine, name] :
       {std::tuple<int, uint16_t, const char*>{64, EM_AARCH64, "AArch64"},
        {64, EM_RISCV, "RISC-V"},
        {64, EM_X86_64, "X86-64"},
        {32, EM_ARM, "ARM"},
        {32, EM_386, "80386"}}) {
    for (const bool gnu_hash : {false, true}) {
      test::put(dir / "lib.so", test::write_elf(spec(bits, machine, gnu_hash)));
      const std::string said = output_of("readelf -hdsW --use-dynamic '" + dir / "lib.so" + "'");
      if (said.find("not found") != std::string::npos) GTEST_SKIP() << said;
      for (const char* words :
           {name, "Library soname: [libmali.so.1]", "Shared library: [libdrm.so.2]", "[$ORIGIN]",
            "clGetPlatformIDs@@OPENCL_1.0", "eglInitialize@@OPENCL_1.0", "UND malloc"})
        EXPECT_THAT(said, HasSubstr(words)) << name;
      EXPECT_THAT(said, testing::Not(HasSubstr("readelf:"))) << name;
    }
  }
}

#if defined(__x86_64__)
TEST(TestLibrary, IsLoadedByThisSystemsLinkerAndItsFunctionsReturnZero) {
  for (const bool gnu_hash : {false, true}) {
    const test::TempDir dir;
    test::ElfSpec own = spec(64, EM_X86_64, gnu_hash);
    own.needed = {"libc.so.6"};
    own.undefined.clear();
    test::put(dir / "lib.so", test::write_elf(own));
    void* library = ::dlopen((dir / "lib.so").c_str(), RTLD_NOW);
    ASSERT_TRUE(library) << ::dlerror();
    for (const std::string& name : own.symbols) {
      const auto function = reinterpret_cast<int (*)()>(::dlsym(library, name.c_str()));
      ASSERT_TRUE(function) << name;
      EXPECT_EQ(function(), 0);
    }
    EXPECT_TRUE(::dlvsym(library, "clFinish", "OPENCL_1.0"));
    EXPECT_FALSE(::dlsym(library, "clNotThere"));
    ::dlclose(library);
  }
}
#endif

TEST(ElfLibrary, OfThisSystemsCLibraryIsRead) {
  const auto library = read_elf_library("/lib/x86_64-linux-gnu/libc.so.6",
                                        [](std::string_view name) { return name == "malloc"; });
  if (!library) GTEST_SKIP() << library.error().message;
  EXPECT_EQ(library->soname, "libc.so.6");
  EXPECT_THAT(library->exports, ElementsAre("malloc"));
  EXPECT_THAT(library->versions, testing::Contains("GLIBC_2.2.5"));
}

TEST(ElfLibrary, DefinesWhatItsHashTablesLeadToInEveryClass) {
  for (const int bits : {32, 64}) {
    for (const bool gnu_hash : {false, true}) {
      const std::string bytes = test::write_elf(spec(bits, EM_AARCH64, gnu_hash));
      EXPECT_THAT(find(bytes), ElementsAre("clFinish", "clGetPlatformIDs"))
          << "and not what it asks of others";
    }
  }
}

TEST(ElfLibrary, OfThisSystemDefinesEachOfTheSymbolsThatItsTableHolds) {
  const std::string path = "/lib/x86_64-linux-gnu/libc.so.6";
  const auto library = read_elf_library(path, [](std::string_view) { return true; });
  if (!library) GTEST_SKIP() << library.error().message;
  std::vector<std::string_view> names = {"no_such_function"};
  names.insert(names.end(), library->exports.begin(), library->exports.end());
  EXPECT_GT(names.size(), 1000u);
  EXPECT_EQ(find_exports(path, names), library->exports);
}

TEST(ElfLibrary, ThatIsNoneDefinesNothing) {
  EXPECT_THAT(find(""), IsEmpty());
  EXPECT_THAT(find_exports("/nonexistent/x.so", {}).error().message,
              HasSubstr("/nonexistent/x.so"));
}

TEST(ElfLibrary, WithoutADynamicSectionHasClassAndMachineAlone) {
  std::string bytes = test::write_elf(spec(64, EM_AARCH64, false));
  bytes[offsetof(Elf64_Ehdr, e_phnum)] = 0;
  const auto library = parse(bytes);
  ASSERT_TRUE(library);
  EXPECT_EQ(library->machine, EM_AARCH64);
  EXPECT_THAT(library->needed, IsEmpty());
}

TEST(ElfLibrary, IsRefusedWhereItIsNone) {
  EXPECT_THAT(parse("").error().message, HasSubstr("not an ELF file"));
  EXPECT_THAT(parse("#!/bin/sh\n exit 0 # sixteen").error().message, HasSubstr("not an ELF file"));
  std::string big_endian = test::write_elf(spec(64, EM_AARCH64, false));
  big_endian[EI_DATA] = ELFDATA2MSB;
  EXPECT_THAT(parse(big_endian).error().message, HasSubstr("byte order"));
  EXPECT_THAT(read_elf_library("/nonexistent/x.so", starts_with_cl).error().message,
              HasSubstr("/nonexistent/x.so"));
}

TEST(ElfLibrary, NeverReadsBeyondACutFile) {
  for (const int bits : {32, 64}) {
    const std::string whole = test::write_elf(spec(bits, EM_AARCH64, true));
    for (size_t size = 0; size < whole.size(); ++size) {
      parse(whole.substr(0, size));
      find(whole.substr(0, size));
    }
  }
}

TEST(ElfLibrary, SurvivesFieldsOverwrittenByLargeNumbersAndNoise) {
  std::mt19937 random(7);
  for (const bool gnu_hash : {false, true}) {
    const std::string whole = test::write_elf(spec(64, EM_AARCH64, gnu_hash));
    for (size_t at = EI_NIDENT; at + 8 <= whole.size(); at += 4) {
      for (const uint64_t value :
           {~uint64_t{0}, uint64_t{1} << 63, uint64_t{0x7fffffff}, uint64_t{0}}) {
        std::string bytes = whole;
        std::memcpy(bytes.data() + at, &value, sizeof value);
        parse(bytes);
        find(bytes);
      }
    }
    for (int round = 0; round < 300; ++round) {
      std::string bytes = whole;
      for (size_t i = EI_NIDENT; i < bytes.size(); ++i)
        if (random() % 8 == 0) bytes[i] = static_cast<char>(random());
      parse(bytes);
      find(bytes);
    }
  }
}

TEST(ElfLibrary, TakesNoNamesWithoutAnEndAndABoundedNumberOfExports) {
  test::ElfSpec own = spec(64, EM_AARCH64, false);
  own.runpath = std::string(5000, 'r');
  own.symbols = {"cl" + std::string(5000, 'x'), "clFinish"};
  const auto library = parse(test::write_elf(own));
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->runpath, "");
  EXPECT_THAT(library->exports, ElementsAre("clFinish"));
  own.symbols.assign(10000, "clFinish");
  EXPECT_EQ(parse(test::write_elf(own))->exports.size(), 4096u);
}

}  // namespace
}  // namespace clvet
