// What samples of a time say of it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace clvet {

struct Figures {
  size_t count = 0;
  double mean = 0;
  std::optional<double> sigma;  // of the population that the samples are of; none of one sample
  double min = 0, median = 0;   // median: of an even number the upper one
  double p90 = 0, p99 = 0;      // the least sample that so many percent do not exceed
  double max = 0;
};

// Nothing of none.
std::optional<Figures> figures_of(std::vector<double> samples);

}  // namespace clvet
