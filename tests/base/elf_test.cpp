#include <elf.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "base/elf.h"
#include "base/hash.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::TempDir;

// A minimal ELF file of 64 bits with one note segment that holds a Build-ID.
std::string small_elf() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + sizeof segment;
  const Elf64_Nhdr note{4, 4, NT_GNU_BUILD_ID};
  segment.p_filesz = sizeof note + 8;
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  text.append(reinterpret_cast<const char*>(&note), sizeof note);
  return text + std::string("GNU\0", 4) + "\xDE\xAD\xBE\xEF";
}

std::string build_id(const TempDir& dir, const std::string& bytes) {
  test::put(dir / "x.so", bytes);
  const auto id = read_build_id(dir / "x.so");
  EXPECT_TRUE(id) << id.error().message;
  return id.value_or("error");
}

TEST(BuildId, IsReadFromTheNoteSegment) {
  const TempDir dir;
  EXPECT_EQ(build_id(dir, small_elf()), "deadbeef");
}

TEST(BuildId, OfThisProgramIsHex) {
  const auto id = read_build_id("/proc/self/exe");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(BuildId, OfATruncatedFileIsEmptyAndNeverReadsBeyondItsEnd) {
  const TempDir dir;
  const std::string whole = small_elf();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(build_id(dir, whole.substr(0, size)), "") << size << " bytes";
  }
}

TEST(BuildId, SurvivesEveryFieldOverwrittenByLargeNumbers) {
  const TempDir dir;
  for (size_t at = 0; at + 8 <= small_elf().size(); at += 2) {
    for (const uint64_t value :
         {~uint64_t{0}, uint64_t{1} << 63, uint64_t{0x7fffffff}, uint64_t{0}}) {
      std::string bytes = small_elf();
      std::memcpy(bytes.data() + at, &value, sizeof value);
      build_id(dir, bytes);
    }
  }
}

TEST(BuildId, SurvivesGarbageBehindAMagicNumber) {
  const TempDir dir;
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = small_elf();
    for (size_t i = SELFMAG + 1; i < bytes.size(); ++i) {
      if (random() % 4 == 0) bytes[i] = static_cast<char>(random());
    }
    build_id(dir, bytes);
  }
}

TEST(FileIdentity, IsTheBuildIdElseTheHashOfTheFile) {
  const TempDir dir;
  test::put(dir / "x.so", small_elf());
  EXPECT_EQ(file_identity(dir / "x.so").value(), "deadbeef");
  test::put(dir / "text", "no ELF");
  EXPECT_EQ(file_identity(dir / "text").value(), "sha256:" + sha256_hex("no ELF"));
  test::put(dir / "empty", "");
  EXPECT_EQ(file_identity(dir / "empty").value(), "sha256:" + sha256_hex(""));
}

TEST(FileIdentity, NamesWhatIsNoFile) {
  const TempDir dir;
  for (const std::string& path : {dir.path(), dir / "none", std::string("/dev/null")}) {
    const auto id = file_identity(path);
    ASSERT_FALSE(id) << path;
    EXPECT_THAT(id.error().message, testing::HasSubstr(path));
  }
}

}  // namespace
}  // namespace clvet
