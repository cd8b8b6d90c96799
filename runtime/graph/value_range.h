// The least and the greatest of many values.
#pragma once

#include <cstddef>
#include <span>

namespace clvet {

struct ValueRange {
  float least = 0, greatest = 0;  // of what is a number; may be infinite
  bool has_nan = false;
  size_t place = 0;  // of the first that is the greatest; 0 where none is a number
};

// Of one value or more. For the answers of devices, each of which passes through here: as fast as
// the processor reads them.
ValueRange range_of(std::span<const float> values);

}  // namespace clvet
