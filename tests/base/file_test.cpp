#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/result.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::TempDir;
using testing::HasSubstr;

int entries_of(const std::string& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST(WriteFileAtomically, WritesANewFileThatOthersMayRead) {
  const TempDir dir;
  ASSERT_TRUE(write_file_atomically(dir / "report.json", "{}"));
  EXPECT_EQ(test::get(dir / "report.json"), "{}");
  struct stat info {};
  ASSERT_EQ(::stat((dir / "report.json").c_str(), &info), 0);
  EXPECT_TRUE(info.st_mode & S_IROTH) << "under the usual umask";
  EXPECT_EQ(entries_of(dir.path()), 1) << "no temporary file stays";
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenTheNewOneCannotBeWritten) {
  const TempDir dir;
  test::put(dir / "report.json", "old");
  // A file size limit stands in for a full disk.
  std::signal(SIGXFSZ, SIG_DFL);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write_file_atomically(dir / "report.json", std::string(5000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(status.error().message, HasSubstr(dir / "report.json"));
  EXPECT_EQ(test::get(dir / "report.json"), "old");
  EXPECT_EQ(entries_of(dir.path()), 1);
}

TEST(WriteFileAtomically, NamesThePathWhereTheFolderIsMissingOrNoFolder) {
  const TempDir dir;
  test::put(dir / "file", "x");
  for (const std::string& path :
       {dir / "none/report.json", dir / "file/report.json", std::string("/proc/report.json")}) {
    for (const Status& status : {write_file_atomically(path, "{}"), check_writable(path)}) {
      ASSERT_FALSE(status) << path;
      EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(status.error().message, HasSubstr(path));
    }
  }
}

TEST(WriteFileAtomically, RefusesAFolder) {
  const TempDir dir;
  ASSERT_TRUE(make_folders(dir / "out"));
  EXPECT_FALSE(check_writable(dir / "out"));
  const Status status = write_file_atomically(dir / "out", "{}");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("directory"));
  EXPECT_EQ(entries_of(dir.path()), 1);
}

TEST(WriteFileAtomically, ReplacesTheTargetOfALinkAndKeepsTheLink) {
  const TempDir dir;
  test::put(dir / "real.json", "old");
  std::filesystem::create_symlink(dir / "real.json", dir / "link.json");
  ASSERT_TRUE(write_file_atomically(dir / "link.json", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link.json"));
  EXPECT_EQ(test::get(dir / "real.json"), "new");
}

TEST(WriteFileAtomically, WritesIntoAPipeInsteadOfReplacingIt) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(check_writable(dir / "pipe"));
  std::string got;
  std::thread reader([&] { got = test::get(dir / "pipe"); });
  EXPECT_TRUE(write_file_atomically(dir / "pipe", "{}"));
  reader.join();
  EXPECT_EQ(got, "{}");
  EXPECT_TRUE(std::filesystem::is_fifo(dir / "pipe"));
}

TEST(CheckWritable, LeavesNothingBehindAndTouchesNothing) {
  const TempDir dir;
  test::put(dir / "report.json", "old");
  EXPECT_TRUE(check_writable(dir / "report.json"));
  EXPECT_TRUE(check_writable(dir / "new.json"));
  EXPECT_EQ(test::get(dir / "report.json"), "old");
  EXPECT_EQ(entries_of(dir.path()), 1);
}

TEST(ReadFile, GivesTheBytesOfAFile) {
  const TempDir dir;
  const std::string bytes("a\0b\n\xFF", 5);
  test::put(dir / "file", bytes);
  EXPECT_EQ(read_file(dir / "file").value(), bytes);
  test::put(dir / "empty", "");
  EXPECT_EQ(read_file(dir / "empty").value(), "");
}

TEST(ReadFile, NamesAFileThatIsNotThere) {
  const auto text = read_file("/nonexistent/x.json");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(text.error().message, HasSubstr("/nonexistent/x.json"));
}

// Which is not the same as that there is no such file.
TEST(ReadFile, SaysThatTooManyFilesAreOpen) {
  const TempDir dir;
  test::put(dir / "file", "x");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto text = read_file(dir / "file");
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(text.error().message, HasSubstr("ulimit -n"));
}

TEST(ReadFile, RefusesAFolderAndAFileThatIsTooLarge) {
  const TempDir dir;
  test::put(dir / "file", std::string(1001, 'x'));
  for (const auto& text : {read_file(dir.path()), read_file(dir / "file", 1000)}) {
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(text.error().message, HasSubstr(dir.path()));
  }
  EXPECT_TRUE(read_file(dir / "file", 1001));
}

TEST(ReadFile, BoundsAFileWithoutASize) {
  EXPECT_EQ(read_file("/dev/zero", 100000).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(read_file("/proc/self/stat")->empty());
}

TEST(ReadFile, DoesNotWaitForTheOtherEndOfAPipe) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(dir / "pipe").value(), "");
}

TEST(MakeFolders, CreatesParentsForTheOwnerAlone) {
  const TempDir dir;
  ASSERT_TRUE(make_folders(dir / "a/b"));
  ASSERT_TRUE(make_folders(dir / "a/b")) << "again";
  struct stat info {};
  ASSERT_EQ(::stat((dir / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST(MakeFolders, SaysWhichFolderCannotBeMade) {
  const TempDir dir;
  test::put(dir / "file", "x");
  for (const std::string& path : {dir / "file", dir / "file/below", std::string("/proc/clvet")}) {
    const Status status = make_folders(path);
    ASSERT_FALSE(status) << path;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().message, HasSubstr(path));
  }
}

TEST(StateDir, FollowsItsOwnVariableThenXdgThenHome) {
  const test::ScopedVariable home("HOME", "/home/u");
  const test::ScopedVariable xdg("XDG_STATE_HOME", "/xdg");
  {
    const test::ScopedVariable own("CLVET_STATE_DIR", "/own");
    EXPECT_EQ(state_dir(), "/own");
    const test::ScopedVariable relative("CLVET_STATE_DIR", "own");
    EXPECT_EQ(state_dir(), std::filesystem::current_path() / "own");
  }
  const test::ScopedVariable none("CLVET_STATE_DIR", "");
  EXPECT_EQ(state_dir(), "/xdg/clvet");
  const test::ScopedVariable relative("XDG_STATE_HOME", "not/absolute");
  EXPECT_EQ(state_dir(), "/home/u/.local/state/clvet");
}

TEST(StateDir, OfAUserWithoutAHomeIsHisAlone) {
  const test::ScopedVariable home("HOME", "");
  const test::ScopedVariable xdg("XDG_STATE_HOME", ""), own("CLVET_STATE_DIR", "");
  const test::ScopedVariable xdg_cache("XDG_CACHE_HOME", ""), own_cache("CLVET_CACHE_DIR", "");
  EXPECT_EQ(state_dir(), "/tmp/clvet-" + std::to_string(::geteuid()));
  EXPECT_EQ(cache_dir(), "/tmp/clvet-" + std::to_string(::geteuid()) + "-cache");
}

TEST(CheckPrivate, TakesWhatOnlyItsUserMayWriteAndWhatIsNotThere) {
  const test::TempDir dir;
  test::put(dir / "file", "x");
  EXPECT_TRUE(check_private(dir.path()));
  EXPECT_TRUE(check_private(dir / "file"));
  EXPECT_TRUE(check_private(dir / "absent"));
  EXPECT_TRUE(check_private("/proc/version")) << "root may write anyway";
}

TEST(CheckPrivate, RefusesWhatOthersMayWriteAndSaysWhatToDo) {
  const test::TempDir dir;
  test::put(dir / "file", "x");
  ASSERT_EQ(::chmod((dir / "file").c_str(), 0666), 0);
  const Status file = check_private(dir / "file");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(file.error().message, HasSubstr(dir / "file"));
  EXPECT_THAT(file.error().message, HasSubstr("chmod go-w"));
  ASSERT_EQ(::chmod(dir.path().c_str(), 0777), 0);
  EXPECT_FALSE(make_private_folder(dir.path()));
  EXPECT_FALSE(check_private("/tmp"));
}

TEST(CheckPrivate, RefusesWhatAnotherUserOwns) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const test::TempDir dir;
  test::put(dir / "file", "x");
  ASSERT_EQ(::chown((dir / "file").c_str(), 12345, 12345), 0);
  const Status file = check_private(dir / "file");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("12345"));
  EXPECT_THAT(file.error().message, HasSubstr("CLVET_STATE_DIR"));
  test::put(dir / "mine", "x");
  ASSERT_EQ(::symlink((dir / "mine").c_str(), (dir / "link").c_str()), 0);
  ASSERT_EQ(::lchown((dir / "link").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(check_private(dir / "link")) << "who owns a link says where it leads";
}

TEST(WriteFile, LeavesNoFileThatOthersMayWrite) {
  const test::TempDir dir;
  const mode_t mask = ::umask(0);
  EXPECT_TRUE(write_file_atomically(dir / "file", "x"));
  ::umask(mask);
  EXPECT_TRUE(check_private(dir / "file"));
}

}  // namespace
}  // namespace clvet
