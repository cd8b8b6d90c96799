// Lets an operator that may run for ever see that its caller wants no answer any more.
#pragma once

#include <atomic>

namespace clvet {

// While it lives, cancel_requested() on this thread reads `flag`, which may be nullptr.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>* flag);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  const std::atomic<bool>* before_;
};

bool cancel_requested();

}  // namespace clvet
