// Places in a plane that are known only at run time: what their references share.
#pragma once

namespace clvet {

// Whether a float holds the number. Where every step to a place is one, every device finds the same
// place.
inline bool is_float(double value) {
  return static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace clvet
