#include "base/processors.h"

#include <gmock/gmock.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;

// The processors that are allowed of 64 with these files below a root.
int allowed_with(const std::map<std::string, std::string>& files) {
  const test::TempDir root;
  for (const auto& [path, text] : files) {
    const std::filesystem::path file = root / path;
    std::filesystem::create_directories(file.parent_path());
    test::put(file, text);
  }
  return allowed_processors(64, root.path());
}

constexpr const char* kOwn = "proc/self/cgroup";

TEST(AllowedProcessors, AreThoseOfTheMaskWithoutControlGroups) {
  const test::TempDir root;
  EXPECT_EQ(allowed_processors(64, root.path()), 64);
  EXPECT_EQ(allowed_processors(0, root.path()), 1);
}

TEST(AllowedProcessors, AreTheQuotaOfVersionTwoRoundedUp) {
  const std::map<std::string, int> rows{{"max 100000\n", 64},   {"150000 100000\n", 2},
                                        {"100000 100000\n", 1}, {"1000 100000\n", 1},
                                        {"300001 100000\n", 4}, {"99999999 100000\n", 64},
                                        {"200000 100000", 2}};
  for (const auto& [text, count] : rows)
    EXPECT_EQ(allowed_with({{kOwn, "0::/a/b\n"}, {"sys/fs/cgroup/a/b/cpu.max", text}}), count)
        << text;
}

TEST(AllowedProcessors, AreTheLeastOfAGroupAndThoseAboveIt) {
  std::map<std::string, std::string> files{{kOwn, "0::/a/b\n"},
                                           {"sys/fs/cgroup/a/b/cpu.max", "max 100000"},
                                           {"sys/fs/cgroup/a/cpu.max", "300000 100000"}};
  EXPECT_EQ(allowed_with(files), 3);
  files["sys/fs/cgroup/cpu.max"] = "200000 100000";
  EXPECT_EQ(allowed_with(files), 2);
}

TEST(AllowedProcessors, AreTheQuotaAtTheTopWhereTheGroupIsNotVisible) {
  for (const char* own : {"0::/\n", "0::/docker/0123\n", "0::/../other\n"})
    EXPECT_EQ(allowed_with({{kOwn, own}, {"sys/fs/cgroup/cpu.max", "250000 100000"}}), 3) << own;
}

TEST(AllowedProcessors, AreTheQuotaOfVersionOne) {
  const std::string own = "5:memory:/m\n4:cpu,cpuacct:/a\n1:name=systemd:/a\n0::/a\n";
  for (const std::string mounted : {"sys/fs/cgroup/cpu/", "sys/fs/cgroup/cpu,cpuacct/"}) {
    std::map<std::string, std::string> files{{kOwn, own},
                                             {mounted + "a/cpu.cfs_quota_us", "-1\n"},
                                             {mounted + "a/cpu.cfs_period_us", "100000\n"}};
    EXPECT_EQ(allowed_with(files), 64) << mounted;
    files[mounted + "a/cpu.cfs_quota_us"] = "150000\n";
    EXPECT_EQ(allowed_with(files), 2) << mounted;
  }
}

TEST(AllowedProcessors, AreThoseOfTheMaskWhereTheFilesMakeNoSense) {
  for (const char* text : {"", "x", "100000", "100000 0", "0 100000", "-5 100000", "1e9 x",
                           "99999999999999999999 100000", "100000  100000", "\xff\xff 1"})
    EXPECT_EQ(allowed_with({{kOwn, "0::/\n"}, {"sys/fs/cgroup/cpu.max", text}}), 64) << text;
  for (const char* own : {"", "\n\n", "0", "0:", "::", "cpu", "0::\n4:cpux:/\n"})
    EXPECT_EQ(allowed_with({{kOwn, own},
                            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000"},
                            {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}}),
              64)
        << own;
}

TEST(ProcessorsOfMask, AreThoseThatTheThreadMayRunOn) {
  int narrow = 0;
  std::thread([&narrow] {
    cpu_set_t all, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(processors_of_mask(), CPU_COUNT(&all));
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    narrow = processors_of_mask();
  }).join();
  EXPECT_EQ(narrow, 1);
}

TEST(ParseThreads, TakesZeroToTheMostAndNothingElse) {
  EXPECT_EQ(parse_threads("0").value(), 0);
  EXPECT_EQ(parse_threads("1024").value(), 1024);
  for (const char* text :
       {"", "-1", "+1", "1025", "99999999999999999999", "two", "2x", " 2", "1.5"}) {
    const auto count = parse_threads(text);
    ASSERT_FALSE(count) << text;
    EXPECT_THAT(count.error().message, HasSubstr("'" + std::string(text) + "' is not a number"));
  }
}

TEST(ThreadCount, IsTheVariablesElseWhatIsAllowed) {
  const int allowed = allowed_processors(processors_of_mask());
  for (const auto& [text, count] :
       std::map<std::string, int>{{"3", 3}, {"1", 1}, {"0", allowed}, {"", allowed}}) {
    const test::ScopedVariable variable(kThreadsVariable, text);
    EXPECT_EQ(thread_count(), count) << text;
    EXPECT_TRUE(check_threads_variable()) << text;
  }
}

TEST(ThreadCount, NamesTheVariableThatIsNoNumber) {
  const test::ScopedVariable variable(kThreadsVariable, "many");
  const auto status = check_threads_variable();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "CLVET_THREADS: 'many' is not a number of threads from 0 to 1024");
}

TEST(ThreadCount, IsWhatWasSetLastHereAndInChildren) {
  const test::ScopedVariable variable(kThreadsVariable, "many");
  set_threads(7);
  EXPECT_EQ(thread_count(), 7);
  EXPECT_EQ(std::system("test \"$CLVET_THREADS\" = 7"), 0);
}

}  // namespace
}  // namespace clvet
