// A tensor's elements around one of its axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/graph/tensor.h"

namespace clvet {

// Element (o, a, i) lies at (o * extent + a) * inner + i.
struct AxisSpan {
  int64_t outer = 1, extent = 1, inner = 1;
  AxisSpan(const Shape& shape, int64_t axis)
      : outer(elements_of(std::span(shape).first(static_cast<size_t>(axis)))),
        extent(shape[static_cast<size_t>(axis)]),
        inner(elements_of(std::span(shape).subspan(static_cast<size_t>(axis) + 1))) {}
};

}  // namespace clvet
