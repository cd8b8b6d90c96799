#include "runtime/host/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/processors.h"
#include "base/threads.h"

namespace clvet {
namespace {

class Pool {
 public:
  static Pool& shared() {
    static Pool pool;
    return pool;
  }

  // False: another loop has the threads.
  bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
  void give_back() { taken_.store(false, std::memory_order_release); }

  // After take().
  void run(int64_t count, int64_t part, const std::function<void(int64_t, int64_t)>& body) {
    {
      const std::lock_guard lock(mutex_);
      body_ = &body;
      count_ = count;
      part_ = part;
      next_ = 0;
      busy_ = static_cast<int>(threads_.size());
      ++round_;
    }
    wake_.notify_all();
    thrown_.guard([&] { work(); });
    {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return busy_ == 0; });
    }
    thrown_.rethrow();
  }

  size_t width() const { return threads_.size() + 1; }

 private:
  Pool() {
    try {
      const int count = thread_count();
      for (int i = 1; i < count; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that there are do the work.
    }
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      ++round_;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void work() {
    for (;;) {
      const int64_t first = next_.fetch_add(part_);
      if (first >= count_) return;
      (*body_)(first, std::min(first + part_, count_));
    }
  }

  void serve() {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return round_ != seen; });
        seen = round_;
        if (ending_) return;
      }
      thrown_.guard([&] { work(); });
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  FirstException thrown_;
  const std::function<void(int64_t, int64_t)>* body_ = nullptr;
  int64_t count_ = 0, part_ = 1;
  std::atomic<int64_t> next_{0};
  int busy_ = 0;
  uint64_t round_ = 0;
  bool ending_ = false;
  std::atomic<bool> taken_{false};
};

}  // namespace

void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (count <= grain) return body(0, count);
  Pool& pool = Pool::shared();
  if (!pool.take()) return body(0, count);
  const std::unique_ptr<Pool, void (*)(Pool*)> until_the_end(&pool,
                                                             [](Pool* one) { one->give_back(); });
  // Parts for each thread several times over, for those that other work holds up.
  const auto parts = static_cast<int64_t>(pool.width()) * 4;
  pool.run(count, std::max(grain, (count + parts - 1) / parts), body);
}

int64_t parallel_width() { return static_cast<int64_t>(Pool::shared().width()); }

}  // namespace clvet
