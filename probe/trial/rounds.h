// What rounds say of kernels that run the same call in turn: a round times each of them once.
//
// What slows a machine down for a while slows all kernels of a round down alike. So a kernel counts
// by its time over that of one kernel, the reference, in the same round.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace clvet {

// Of one kernel: milliseconds by the number of the round. It may lack some.
using TimesByRound = std::map<int, double>;
// Of all kernels.
using SittingTimes = std::vector<TimesByRound>;

struct RoundTimes {
  double median_ms = 0;  // the reference's median, times that of the ratios
  double spread_ms = 0;  // of the ratios, at the reference's median; of the reference itself 0
  int rounds = 0;        // that it shares with the reference; 0: not timed
};

// Rounds that a kernel needs to count beside another one that is near.
inline constexpr int kLeastRounds = 5;

// Whether a kernel with these times is so much slower than the fastest that further rounds cannot
// bring it to the front: eight times as slow in two rounds, or by 15 % in five.
bool far_behind(const std::vector<double>& ms, const std::vector<double>& fastest);
bool clearly_behind(const std::vector<double>& ms, const std::vector<double>& fastest);

// Of each kernel, by all sittings. What else the machine does may favour one kernel for all of a
// sitting: so the spread is the interquartile range of all ratios, or, where that is more,
// sqrt(rounds) times the standard error of the sittings' medians. Of these most have to agree: the
// error is taken from their median absolute deviation, 1.4826 of which are a standard deviation.
std::vector<RoundTimes> sum_up(const std::vector<SittingTimes>& sittings, size_t reference);

// What was left out counts as 15 % slower, at least, than the fastest that was not: its few rounds
// may have had a slow reference. `sums` and `left_out` are of the same kernels.
void hold_back(const std::vector<bool>& left_out, std::vector<RoundTimes>& sums);

}  // namespace clvet
