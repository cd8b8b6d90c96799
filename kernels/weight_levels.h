// Weights that a network holds as levels of 8 bits, found again in the numbers that they stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace clvet {

// Of each column: its numbers are scale * q + offset, q a whole number of 0 to 255. A column of one
// number has the scale 0.
struct WeightLevels {
  std::vector<float> scales, offsets;
};

// The levels that weights of so many columns are, [rows][columns]; nullopt where a number of some
// column is none, to within two roundings of float32. Numbers that are whole times one step keep
// their values: steps of 1 give whole numbers exactly.
std::optional<WeightLevels> levels_of(std::span<const double> weights, int64_t columns);

}  // namespace clvet
