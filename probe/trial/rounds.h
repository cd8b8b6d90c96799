// What rounds say of kernels that run the same call in turn: a round times each of them once.
#pragma once

#include <map>
#include <vector>

namespace clvet {

// Of one kernel: milliseconds by the number of the round. It may lack some.
using TimesByRound = std::map<int, double>;

struct RoundTimes {
  double median_ms = 0, spread_ms = 0;  // and interquartile range
  int rounds = 0;                       // 0: not timed
};

// Rounds before a candidate may be left out, and that a result needs to count.
inline constexpr int kLeastRounds = 5;

// The times as if the machine had kept its pace: what slows all kernels of a round down is taken
// out. By the model log(time) = kernel + round + rest, fitted by medians in turn (J. W. Tukey,
// Exploratory Data Analysis, 1977: median polish), which one wild time does not move. The round
// takes a part of its n kernels' rests, too, and more of them the fewer they are; so rests are
// enlarged by sqrt(n / (n - 1)), by which a mean of them would shrink them. Rounds that timed one
// kernel alone say nothing and are left out.
std::vector<std::vector<double>> at_one_pace(const std::vector<TimesByRound>& kernels);

// Whether a kernel with these times is so much slower than the fastest that further rounds cannot
// bring it to the front: eight times as slow in two rounds, or by 15 % in five.
bool far_behind(const std::vector<double>& ms, const std::vector<double>& fastest);
bool clearly_behind(const std::vector<double>& ms, const std::vector<double>& fastest);
RoundTimes summarise_rounds(std::vector<double> ms);
// Whether more rounds may show that a kernel beats the first (probe/report/tuned.h). One without
// times is out.
bool is_open(const std::vector<std::vector<double>>& ms);

}  // namespace clvet
