#include "runtime/cache/program_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProgramCacheTest : public testing::Test {
 protected:
  ProgramCache open(const std::string& environment = "environment") const {
    return {folder_, environment, "Board"};
  }
  static void keep(ProgramCache& cache, const std::string& key, const std::string& code) {
    cache.keep(key, "kernel_of_" + key, std::as_bytes(std::span(code)));
  }
  static std::optional<std::string> code(ProgramCache& cache, const std::string& key) {
    const auto found = cache.find(key);
    return found ? std::optional(std::string(found->file.binary)) : std::nullopt;
  }
  std::string only_file() const {
    const std::vector<CachedProgram> found = listed();
    return found.size() == 1 ? folder_ + "/" + found[0].file : "";
  }
  std::vector<CachedProgram> listed() const { return list_programs(folder_).value(); }

  const test::TempDir dir_;
  const std::string folder_ = dir_ / "programs";
};

TEST_F(ProgramCacheTest, GivesBackWhatAnEarlierStartKept) {
  ProgramCache first = open();
  EXPECT_FALSE(code(first, "a"));
  keep(first, "a", "code of a");
  keep(first, "b", "code of b");
  ProgramCache second = open();
  EXPECT_EQ(code(second, "a"), "code of a");
  EXPECT_EQ(code(second, "b"), "code of b");
  EXPECT_FALSE(code(second, "c"));
  EXPECT_THAT(second.take_notes(), IsEmpty());
}

TEST_F(ProgramCacheTest, KeepsEachEnvironmentApart) {
  ProgramCache first = open();
  keep(first, "a", "code");
  ProgramCache other = open("another driver");
  EXPECT_FALSE(code(other, "a"));
  EXPECT_THAT(other.take_notes(), IsEmpty());
}

TEST_F(ProgramCacheTest, LetsNobodyElseReadItsFiles) {
  ProgramCache cache = open();
  keep(cache, "a", "code");
  struct stat info {};
  ASSERT_EQ(::stat(only_file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(ProgramCacheTest, RemovesAFileOfAnotherProgramAndSaysSo) {
  ProgramCache cache = open();
  keep(cache, "a", "code of a");
  const std::string a = only_file();
  keep(cache, "b", "code of b");
  for (const CachedProgram& one : listed()) {
    if (one.label.program_key == "b") std::filesystem::rename(folder_ + "/" + one.file, a);
  }
  EXPECT_FALSE(code(cache, "a"));
  EXPECT_THAT(cache.take_notes(), ElementsAre(HasSubstr("of another program")));
  EXPECT_FALSE(std::filesystem::exists(a));
}

TEST_F(ProgramCacheTest, FollowsNoLink) {
  ProgramCache cache = open();
  keep(cache, "a", "code");
  const std::string file = only_file();
  std::filesystem::rename(file, dir_ / "elsewhere");
  std::filesystem::create_symlink(dir_ / "elsewhere", file);
  EXPECT_FALSE(code(cache, "a"));
  EXPECT_THAT(cache.take_notes(), ElementsAre(HasSubstr("it is a link")));
  std::filesystem::create_symlink(dir_ / "elsewhere", file);
  keep(cache, "a", "new code");
  EXPECT_FALSE(std::filesystem::is_symlink(file));
  EXPECT_THAT(test::get(dir_ / "elsewhere"), HasSubstr("code"));
  EXPECT_EQ(code(cache, "a"), "new code");
}

TEST_F(ProgramCacheTest, TakesNoFileThatOthersMayWrite) {
  ProgramCache cache = open();
  keep(cache, "a", "code");
  ::chmod(only_file().c_str(), 0622);
  EXPECT_FALSE(code(cache, "a"));
  EXPECT_THAT(cache.take_notes(), ElementsAre(HasSubstr("other users may write to it")));
}

TEST_F(ProgramCacheTest, TakesNoFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ProgramCache cache = open();
  keep(cache, "a", "code");
  ASSERT_EQ(::chown(only_file().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(code(cache, "a"));
  EXPECT_THAT(cache.take_notes(), ElementsAre(HasSubstr("another user (id 12345)")));
}

TEST_F(ProgramCacheTest, UsesNoFolderThatOthersMayWriteTo) {
  ProgramCache before = open();
  keep(before, "a", "code");
  ::chmod(folder_.c_str(), 0777);
  ProgramCache cache = open();
  EXPECT_FALSE(cache.is_on());
  EXPECT_FALSE(code(cache, "a"));
  EXPECT_THAT(cache.take_notes(), ElementsAre(HasSubstr("other users may write")));
  EXPECT_FALSE(list_programs(folder_));
}

TEST_F(ProgramCacheTest, SaysOnceWhereNothingCanBeKept) {
  std::filesystem::create_symlink("/sys/kernel", folder_);  // where not even root may write
  ProgramCache cache = open();
  keep(cache, "a", "code");
  keep(cache, "b", "code");
  EXPECT_THAT(cache.take_notes(), ElementsAre(HasSubstr("program binaries are not kept")));
}

// A limit of a file's size stands in for a full disk; its signal would end the process.
TEST_F(ProgramCacheTest, SaysOnceWhereTheDiskIsFull) {
  ProgramCache cache = open();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  keep(cache, "a", std::string(5000, 'x'));
  keep(cache, "b", std::string(5000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(cache.take_notes(), ElementsAre(HasSubstr("program binaries are not kept")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "nothing half written stays";
}

TEST_F(ProgramCacheTest, RemovesWhatWasNotUsedForTheLongestTime) {
  const test::ScopedVariable limit("CLVET_PROGRAM_CACHE_MIB", "1");
  ProgramCache cache = open();
  const std::string large(400 << 10, 'x');
  keep(cache, "a", large);
  keep(cache, "b", large);
  for (const CachedProgram& one : listed()) {
    const long age = one.label.program_key == "a" ? 20000 : 10000;
    const timespec then{static_cast<time_t>(one.used) - age, 0}, times[2] = {then, then};
    ::utimensat(AT_FDCWD, (folder_ + "/" + one.file).c_str(), times, 0);
  }
  ASSERT_TRUE(code(cache, "a")) << "and so it was used just now";
  keep(cache, "c", large);
  EXPECT_TRUE(code(cache, "a"));
  EXPECT_FALSE(code(cache, "b"));
  EXPECT_TRUE(code(cache, "c"));
}

TEST_F(ProgramCacheTest, RemovesWhatAWriterLeftThatDied) {
  ProgramCache cache = open();
  keep(cache, "a", "code");
  const std::string left = only_file() + ".abcdef";
  test::put(left, "half");
  keep(cache, "b", "code");
  EXPECT_TRUE(std::filesystem::exists(left)) << "it may be at work still";
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ::utimensat(AT_FDCWD, left.c_str(), times, 0);
  keep(cache, "c", "code");
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(ProgramCacheTest, IsOffWithALimitOfNothing) {
  const test::ScopedVariable limit("CLVET_PROGRAM_CACHE_MIB", "0");
  ProgramCache cache = open();
  keep(cache, "a", "code");
  EXPECT_FALSE(cache.is_on());
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(ProgramCacheTest, TriesNoBinaryAgainThatADriverDiedOf) {
  ProgramCache cache = open();
  keep(cache, "a", "code");
  keep(cache, "b", "code");
  cache.distrust("a", "the driver died of it", false);
  ProgramCache next = open();
  EXPECT_THAT(next.take_notes(), ElementsAre("the driver died of it"));
  keep(next, "a", "code");
  EXPECT_FALSE(code(next, "a"));
  EXPECT_TRUE(code(next, "b"));
  EXPECT_THAT(open().take_notes(), IsEmpty()) << "it was said";
}

TEST_F(ProgramCacheTest, ForgetsAllBinariesOfAnEnvironmentThatIsNotTrusted) {
  ProgramCache cache = open(), other = open("other");
  keep(cache, "a", "code");
  keep(other, "a", "code");
  cache.distrust(kAllPrograms, "why", true);
  EXPECT_THAT(cache.take_notes(), ElementsAre("why"));
  EXPECT_FALSE(open().is_on());
  EXPECT_THAT(open().take_notes(), IsEmpty());
  EXPECT_TRUE(code(other, "a"));
  EXPECT_EQ(list_programs(folder_)->size(), 1u);
  ASSERT_EQ(clear_programs(folder_), 1u);
  EXPECT_TRUE(open().is_on()) << "all is forgotten";
}

// Of two lengths, so that a mix of both would show.
TEST_F(ProgramCacheTest, GivesAWholeFileWhileManyProcessesWrite) {
  const std::string one(200000, '1'), two(300000, '2');
  std::vector<pid_t> children;
  for (const std::string* text : {&one, &two, &one, &two}) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ProgramCache cache = open();
      for (int i = 0; i < 50; ++i) keep(cache, "a", *text);
      ::_exit(cache.take_notes().empty() ? 0 : 1);
    }
    children.push_back(pid);
  }
  ProgramCache cache = open();
  for (int i = 0; i < 100; ++i) {
    const auto got = code(cache, "a");
    EXPECT_TRUE(!got || got == one || got == two);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(cache.take_notes(), IsEmpty());
  EXPECT_TRUE(code(cache, "a"));
}

}  // namespace
}  // namespace clvet
