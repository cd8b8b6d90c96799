// Large tensors looked at in parts, on all processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/host/parallel.h"

namespace clvet {

// Of values: few enough for a processor's cache, so many that handing them out costs little.
inline constexpr size_t kPart = size_t{1} << 14;

// Calls body(first, count) for parts that make up 0..count, in any order.
template <class Body>
void each_part(size_t count, const Body& body) {
  if (count <= kPart) return body(0, count);
  parallel_for(
      static_cast<int64_t>((count + kPart - 1) / kPart), 1, [&](int64_t begin, int64_t end) {
        for (auto part = static_cast<size_t>(begin); part < static_cast<size_t>(end); ++part)
          body(part * kPart, std::min(kPart, count - part * kPart));
      });
}

// The same of what body(first, count) finds, added up in order: on every machine alike.
template <class Sum, class Body>
Sum sum_of_parts(size_t count, const Body& body) {
  if (count <= kPart) return body(0, count);
  std::vector<Sum> found((count + kPart - 1) / kPart);
  each_part(count, [&](size_t first, size_t size) { found[first / kPart] = body(first, size); });
  Sum sum;
  for (const Sum& part : found) sum.add(part);
  return sum;
}

}  // namespace clvet
