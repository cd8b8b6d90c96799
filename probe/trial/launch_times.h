// How long the launches of a trial took.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace clvet {

struct LaunchTimes {
  std::vector<double> single;  // in ms, each waited for; one at least before a member is called
  std::vector<double> piped;   // of one among `launches` that nothing waits for
  int launches = 0;            // 0: none were launched so
  // The same of a kernel that does nothing, in turn with them; none where that was not timed.
  std::vector<double> idle, idle_piped;

  // That share of the single ones took no longer.
  double at(double share) const {
    std::vector<double> sorted = single;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
  double median() const { return at(0.5); }
  // Of the middle half.
  double spread() const { return at(0.75) - at(0.25); }
  // That nothing disturbed more than a few of them: machines that do nothing else stay below a
  // fifth; on an H100's host a pause of some 10 ms gave 1.7.
  bool steady() const { return spread() <= 0.5 * median(); }
};

}  // namespace clvet
