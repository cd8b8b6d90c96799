#include "runtime/host/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
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

using Seconds = std::chrono::duration<double>;

// How long a thread waits awake for the next loop, or for the last part of this one: to sleep and
// to be woken takes tens of microseconds, as long as many a node's whole loop. Not where more
// threads than processors would keep each other from working.
constexpr Seconds kPatience(50e-6);

// Tells the processor that a loop waits.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

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
    body_ = &body;
    count_ = count;
    part_ = part;
    next_ = 0;
    gate_ = kOpen;
    begin_round();
    thrown_.guard([&] { work(); });
    // No part is left that nobody works on: a thread that has not come yet is not waited for.
    gate_ &= ~kOpen;
    const auto done = [this] { return gate_ == 0; };
    if (!soon(done)) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, done);
    }
    thrown_.rethrow();
  }

  size_t width() const { return threads_.size() + 1; }

 private:
  Pool() {
    try {
      const int count = thread_count();
      patience_ = count <= allowed_processors(processors_of_mask()) ? kPatience : Seconds(0);
      for (int i = 1; i < count; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that there are do the work.
    }
  }
  ~Pool() {
    ending_ = true;
    begin_round();
    for (std::thread& thread : threads_) thread.join();
  }

  void work() {
    for (;;) {
      const int64_t first = next_.fetch_add(part_);
      if (first >= count_) return;
      (*body_)(first, std::min(first + part_, count_));
    }
  }

  // What was written before is seen by the threads that it calls.
  void begin_round() {
    {
      const std::lock_guard lock(mutex_);
      ++round_;
    }
    wake_.notify_all();
  }

  // Whether the loop still takes a thread; if so, it is waited for until leave().
  bool enter() {
    uint32_t gate = gate_;
    while ((gate & kOpen) != 0) {
      if (gate_.compare_exchange_weak(gate, gate + 1)) return true;
    }
    return false;
  }
  void leave() {
    if (--gate_ != 0) return;
    const std::lock_guard lock(mutex_);  // run() may be about to sleep
    done_.notify_one();
  }

  void serve() {
    uint64_t seen = 0;
    for (;;) {
      const auto called = [&] { return round_ != seen; };
      if (!soon(called)) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, called);
      }
      seen = round_;
      if (ending_) return;
      if (!enter()) continue;
      thrown_.guard([&] { work(); });
      leave();
    }
  }

  // Whether it comes true while a thread waits awake.
  template <class Condition>
  bool soon(const Condition& condition) const {
    if (condition()) return true;
    const auto end = std::chrono::steady_clock::now() + patience_;
    while (std::chrono::steady_clock::now() < end) {
      for (int i = 0; i < 8; ++i) {
        if (condition()) return true;
        relax();
      }
    }
    return false;
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  FirstException thrown_;
  const std::function<void(int64_t, int64_t)>* body_ = nullptr;
  int64_t count_ = 0, part_ = 1;
  std::atomic<int64_t> next_{0};
  static constexpr uint32_t kOpen = uint32_t{1} << 31;
  std::atomic<uint32_t> gate_{0};  // how many threads are in the loop; kOpen: more may come
  std::atomic<uint64_t> round_{0};
  bool ending_ = false;
  Seconds patience_{0};
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
