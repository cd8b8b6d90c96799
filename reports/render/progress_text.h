// The one line that says how far long work is.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "base/event.h"

namespace clvet {

class ProgressText {
 public:
  // "[12/345] 3 %, 2 min left: device case", at most `columns` wide. What is left follows from the
  // work of the last minute, and is said once that is at least two seconds. `now`: monotonic
  // seconds, which never go down. Without a total, the event's text alone.
  std::string line(const Event& event, double now, size_t columns);

 private:
  struct Mark {
    double time;
    int done;
  };

  void note(const Event& event, double now);
  std::string time_left(double now) const;  // empty: not known yet

  std::deque<Mark> marks_;  // the oldest first
  int total_ = 0;
};

}  // namespace clvet
