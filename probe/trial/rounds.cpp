#include "probe/trial/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "probe/report/report.h"
#include "probe/report/tuned.h"

namespace clvet {
namespace {

// Of an even number the mean of the two in the middle: with two kernels, a round's pace is both's.
double middle(std::vector<double> values) {
  const double upper = median(values);
  for (double& value : values) value = -value;
  return 0.5 * (upper - median(std::move(values)));
}

// By that factor, in so many rounds at least.
bool is_slower(const std::vector<double>& ms, const std::vector<double>& fastest, double factor,
               size_t rounds) {
  if (std::min(ms.size(), fastest.size()) < rounds) return false;
  return *std::min_element(ms.begin(), ms.end()) > factor * median(fastest);
}

struct LogTime {
  size_t kernel = 0;
  double log_ms = 0;
};
using Round = std::vector<LogTime>;

std::vector<Round> whole_rounds(const std::vector<TimesByRound>& kernels) {
  std::map<int, Round> rounds;
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (const auto& [round, ms] : kernels[i]) rounds[round].push_back({i, std::log(ms)});
  }
  std::vector<Round> whole;
  for (auto& [number, round] : rounds) {
    if (round.size() > 1) whole.push_back(std::move(round));
  }
  return whole;
}

class Polish {
 public:
  Polish(std::vector<Round> rounds, size_t kernels)
      : rounds_(std::move(rounds)), kernels_(kernels), paces_(rounds_.size()) {
    fit_kernels();  // before any pace is known
    for (int i = 0; i < kMostSteps; ++i) {
      const std::vector<double> before = kernels_;
      fit_paces();
      fit_kernels();
      if (before == kernels_) break;
    }
  }

  std::vector<std::vector<double>> times() const {
    std::vector<std::vector<double>> ms(kernels_.size());
    if (rounds_.empty()) return ms;
    const double usual = middle(paces_);
    for (size_t i = 0; i < rounds_.size(); ++i) {
      const auto n = static_cast<double>(rounds_[i].size());
      for (const LogTime& one : rounds_[i]) {
        const double rest = one.log_ms - kernels_[one.kernel] - paces_[i];
        const double log_ms = kernels_[one.kernel] + usual + rest * std::sqrt(n / (n - 1));
        ms[one.kernel].push_back(std::exp(log_ms));
      }
    }
    return ms;
  }

 private:
  static constexpr int kMostSteps = 10;

  void fit_kernels() {
    std::vector<std::vector<double>> values(kernels_.size());
    for (size_t i = 0; i < rounds_.size(); ++i) {
      for (const LogTime& one : rounds_[i]) values[one.kernel].push_back(one.log_ms - paces_[i]);
    }
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (!values[i].empty()) kernels_[i] = middle(std::move(values[i]));
    }
  }

  void fit_paces() {
    for (size_t i = 0; i < rounds_.size(); ++i) {
      std::vector<double> values;
      for (const LogTime& one : rounds_[i]) values.push_back(one.log_ms - kernels_[one.kernel]);
      paces_[i] = middle(std::move(values));
    }
  }

  std::vector<Round> rounds_;
  std::vector<double> kernels_, paces_;  // logarithms of what each contributes
};

}  // namespace

std::vector<std::vector<double>> at_one_pace(const std::vector<TimesByRound>& kernels) {
  return Polish(whole_rounds(kernels), kernels.size()).times();
}

bool far_behind(const std::vector<double>& ms, const std::vector<double>& fastest) {
  return is_slower(ms, fastest, 8, 2);
}

bool clearly_behind(const std::vector<double>& ms, const std::vector<double>& fastest) {
  return is_slower(ms, fastest, 1.15, kLeastRounds);
}

RoundTimes summarise_rounds(std::vector<double> ms) {
  if (ms.empty()) return {};
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double share) {
    return ms[static_cast<size_t>(share * static_cast<double>(ms.size() - 1))];
  };
  return {median(ms), at(0.75) - at(0.25), static_cast<int>(ms.size())};
}

bool is_open(const std::vector<std::vector<double>>& ms) {
  std::vector<TunedVariant> rows;
  for (const std::vector<double>& one : ms) {
    const RoundTimes times = summarise_rounds(one);
    TunedVariant& row = rows.emplace_back();
    row.median_ms = times.median_ms;
    row.spread_ms = times.spread_ms;
    row.rounds = times.rounds;
  }
  return std::any_of(rows.begin(), rows.end(), [&](const TunedVariant& row) {
    return row.rounds > 0 && rows.front().rounds > 0 &&
           beats_tuned(row, rows.front()) == Beats::kPerhaps;
  });
}

}  // namespace clvet
