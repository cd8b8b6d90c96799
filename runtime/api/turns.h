// Who computes when: one after the other, from any thread or on one of its own, until it is
// cancelled.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "clvet/result.h"

namespace clvet::v1 {

class Turns {
 public:
  using Work = std::function<Status()>;

  ~Turns() { close(); }
  // What `work` gives, once those that asked before are done.
  Status now(const Work& work);
  // The same on a thread of its own.
  std::future<Status> later(Work work);
  // Ends what computes, by stop(), and what waits: it gives `cancelled`.
  void cancel();
  // Cancels and waits; nothing is asked afterwards.
  void close();
  // True while what computes is to end.
  std::shared_ptr<const std::atomic<bool>> stop() const { return stop_; }

 private:
  struct Job {
    uint64_t ticket = 0;
    Work work;
    std::promise<Status> done;
  };
  uint64_t take_ticket();
  Status compute(uint64_t ticket, const Work& work);
  void serve();

  const std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex computing_;  // one computes at a time
  std::mutex state_;
  std::condition_variable asked_;
  std::deque<Job> jobs_;
  uint64_t tickets_ = 0, cancelled_ = 0;  // those up to the latter are cancelled
  bool closing_ = false;
  std::thread worker_;
};

}  // namespace clvet::v1
