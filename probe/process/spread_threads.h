// A processor each for the threads of a driver that computes on processors.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace clvet {

// While it lives, each other thread of this process stays on a processor of its own. Linux often
// wakes two threads on the same processor and parts them only after some 100 ms: launches that are
// timed for 10 ms then take twice as long as those of a network. Nothing happens unless there are
// as many other threads as processors that this process may use, and two at least; nor to a thread
// that the system does not let move. Afterwards all may run where they might before.
class SpreadThreads {
 public:
  explicit SpreadThreads(bool wanted);
  ~SpreadThreads();
  SpreadThreads(const SpreadThreads&) = delete;
  SpreadThreads& operator=(const SpreadThreads&) = delete;

 private:
  struct Row {
    pid_t thread;
    cpu_set_t before;
  };
  std::vector<Row> moved_;
};

}  // namespace clvet
