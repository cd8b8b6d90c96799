#include "runtime/api/turns.h"

#include <cstdint>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "clvet/result.h"
#include "runtime/api/guarded.h"

namespace clvet::v1 {

uint64_t Turns::take_ticket() {
  const std::lock_guard lock(state_);
  return ++tickets_;
}

Status Turns::compute(uint64_t ticket, const Work& work) {
  const std::lock_guard computing(computing_);
  {
    const std::lock_guard lock(state_);
    if (ticket <= cancelled_) return Error{ErrorCode::cancelled, "it was cancelled"};
    *stop_ = false;
  }
  return guarded(work);
}

Status Turns::now(const Work& work) { return compute(take_ticket(), work); }

std::future<Status> Turns::later(Work work) {
  Job job{take_ticket(), std::move(work), {}};
  std::future<Status> done = job.done.get_future();
  const std::lock_guard lock(state_);
  jobs_.push_back(std::move(job));
  if (!worker_.joinable()) worker_ = std::thread([this] { serve(); });
  asked_.notify_one();
  return done;
}

void Turns::serve() {
  for (;;) {
    std::unique_lock lock(state_);
    asked_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.done.set_value(compute(job.ticket, job.work));
  }
}

void Turns::cancel() {
  const std::lock_guard lock(state_);
  cancelled_ = tickets_;
  *stop_ = true;
}

void Turns::close() {
  {
    const std::lock_guard lock(state_);
    closing_ = true;
  }
  cancel();
  asked_.notify_all();
  if (worker_.joinable()) worker_.join();
  const std::lock_guard lock(computing_);
}

}  // namespace clvet::v1
