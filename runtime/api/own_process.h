// Things of one process, of which a child after fork() has a copy that it cannot use: the threads
// and locks are the parent's, and so is the driver.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "clvet/result.h"
#include "runtime/api/guarded.h"

namespace clvet::v1 {

class OwnProcess {
 public:
  bool holds() const { return ::getpid() == process_; }
  // `what`: "session", ...
  Status check(const char* what) const;

 private:
  const pid_t process_ = ::getpid();
};

// Destroyed where it was made alone: in a child all stays as it is.
template <class T>
std::shared_ptr<T> of_own_process(T* made) {
  return std::shared_ptr<T>(made, [process = OwnProcess()](T* one) {
    if (process.holds()) delete one;
  });
}

// What `ask` gives of the Impl of something that is there, and of this process. `what`: its name.
template <class Impl, class Ask>
auto asked_of(const std::shared_ptr<Impl>& impl, const char* what, Ask&& ask)
    -> decltype(ask(*impl)) {
  if (!impl)
    return Error{ErrorCode::stale,
                 std::string("this ") + what + " was moved from: use the one it went to"};
  if (const Status own = impl->process().check(what); !own) return own.error();
  return guarded([&] { return ask(*impl); });
}

}  // namespace clvet::v1
