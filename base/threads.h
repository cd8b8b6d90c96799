// Threads that hand on what they throw: an exception that leaves a thread ends the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace clvet {

// The first exception that is caught in any of several threads.
class FirstException {
 public:
  // Calls `work`, and keeps what it throws.
  template <class Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  // Throws it, once. Called when no thread is within guard().
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// Calls `work` with 0 to `count` - 1, each in a thread of its own, and waits for all. Throws what
// one of them threw, and std::system_error where a thread cannot be started.
template <class Work>
void in_threads(size_t count, const Work& work) {
  FirstException thrown;
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back([&thrown, &work, i] { thrown.guard([&] { work(i); }); });
  }
  thrown.rethrow();
}

// Calls `work` with 0 to `count` - 1 from at most `threads` threads: whichever is free takes the
// next number. Throws as in_threads() does.
template <class Work>
void share_among_threads(size_t threads, size_t count, const Work& work) {
  std::atomic<size_t> next = 0;
  in_threads(std::min(threads, count), [&](size_t) {
    for (size_t i = next++; i < count; i = next++) work(i);
  });
}

}  // namespace clvet
