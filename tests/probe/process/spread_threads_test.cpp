#include "probe/process/spread_threads.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <set>
#include <thread>
#include <vector>

namespace clvet {
namespace {

std::vector<int> processors_of(pid_t thread) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(thread, sizeof mask, &mask), 0);
  std::vector<int> found;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mask)) found.push_back(i);
  }
  return found;
}

// Threads that wait until the test ends.
class Threads {
 public:
  explicit Threads(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      std::promise<pid_t> told;
      auto id = told.get_future();
      rows_.emplace_back([this, &told] {
        told.set_value(gettid());
        over_.wait(false);
      });
      ids.push_back(id.get());
    }
  }
  ~Threads() {
    over_ = true;
    over_.notify_all();
    for (std::thread& row : rows_) row.join();
  }
  std::vector<pid_t> ids;

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> rows_;
};

TEST(SpreadThreads, GivesEachThreadAProcessorAndGivesAllBack) {
  const std::vector<int> own = processors_of(0);
  if (own.size() < 2) GTEST_SKIP() << "this process may use one processor";
  const Threads threads(own.size());
  {
    const SpreadThreads spread(true);
    std::set<int> taken;
    for (const pid_t id : threads.ids) {
      const std::vector<int> one = processors_of(id);
      ASSERT_EQ(one.size(), 1U);
      taken.insert(one[0]);
    }
    EXPECT_EQ(taken, std::set<int>(own.begin(), own.end()));
    EXPECT_EQ(processors_of(gettid()), own);
  }
  for (const pid_t id : threads.ids) EXPECT_EQ(processors_of(id), own);
}

TEST(SpreadThreads, LeavesThreadsWhereThereAreMoreOrFewerThanProcessors) {
  const std::vector<int> own = processors_of(0);
  for (const size_t count : {own.size() - 1, own.size() + 1}) {
    const Threads threads(count);
    const SpreadThreads spread(true);
    for (const pid_t id : threads.ids) EXPECT_EQ(processors_of(id), own) << count;
  }
}

TEST(SpreadThreads, LeavesThreadsWhereItIsNotWanted) {
  const std::vector<int> own = processors_of(0);
  const Threads threads(own.size());
  const SpreadThreads spread(false);
  for (const pid_t id : threads.ids) EXPECT_EQ(processors_of(id), own);
}

}  // namespace
}  // namespace clvet
