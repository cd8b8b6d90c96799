// The scores of one query head: what attention and what is fused with it share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/contract.h"

namespace clvet {

// The caches' rows that one query head sees.
struct Seen {
  const double *k, *v;
  int64_t count, pitch;
};

struct Score {
  double value = 0, error = 0;  // error in roundoffs
};

// A sum of D signed products (see kernels/tolerance.h), scaled before or after.
inline std::vector<Score> scores_of(std::span<const double> q, const Seen& seen, double scale) {
  std::vector<Score> scores;
  const double walk = 6 * std::sqrt(static_cast<double>(q.size()) / 2) + 6;
  for (int64_t j = 0; j < seen.count; ++j) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < q.size(); ++i) {
      const double term = scale * q[i] * seen.k[j * seen.pitch + static_cast<int64_t>(i)];
      sum += term;
      squares += term * term;
    }
    scores.push_back({sum, walk * std::sqrt(squares) + std::fabs(sum)});
  }
  return scores;
}

inline double largest_of(const std::vector<Score>& scores) {
  double largest = scores[0].value;
  for (const Score& score : scores) largest = std::max(largest, score.value);
  return largest;
}

inline Values softmax(const std::vector<Score>& scores, double largest) {
  Values weights;
  double total = 0;
  for (const Score& score : scores) {
    weights.push_back(std::exp(score.value - largest));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

}  // namespace clvet
