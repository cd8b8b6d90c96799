#include <cmath>

#include "tests/kernels/tiny_case.h"

namespace clvet {

std::vector<TinyCase> language_cases() {
  return {
      {"gather_rows",
       "gather",
       {{"O", 1}, {"E", 3}, {"I", 5}, {"R", 1}, {"C", 2}, {"W", 1}, {"OW", 5}},
       {{"x", {1, 2, 3, 4, 5, 6}}, {"index", {2, -3, 3, -4, -1}}},
       {5, 6, 1, 2, 0, 0, 0, 0, 5, 6}},
      {"gather_inside",
       "gather",
       {{"O", 2}, {"E", 2}, {"I", 1}, {"R", 2}, {"C", 1}, {"W", 4}, {"OW", 2}},
       {{"x", {1, 2, 3, 4, 5, 6, 7, 8}}, {"index", {1}}},
       {3, 4, 7, 8}},
      {"rms_norm_of_large_values",
       "rms_norm",
       {{"M", 2}, {"W", 1}, {"C", 2}},
       {{"x", {10000, 70000, -7, 1}}, {"scale", {5, 10}}},
       {1, 14, -7, 2},
       {{"epsilon", 0}}},
      {"rms_norm_with_epsilon",
       "rms_norm",
       {{"M", 1}, {"W", 1}, {"C", 2}},
       {{"x", {1, 1}}, {"scale", {4, 6}}},
       {2, 3},
       {{"epsilon", 3}}},
  };
}

}  // namespace clvet
