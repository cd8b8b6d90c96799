#include "reading_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "geometry.h"

namespace ocr {
namespace {

// The mean direction of the places' text; to the right where they cancel out.
Point page_direction(std::span<const Quad> places) {
  Point sum;
  for (const Quad& place : places) {
    if (place.width() > 0) sum = sum + place.across * (1 / place.width());
  }
  return length(sum) > 0 ? sum * (1 / length(sum)) : Point{1, 0};
}

}  // namespace

std::vector<size_t> reading_order(std::span<const Quad> places) {
  const Point across = page_direction(places), down = {-across.y, across.x};
  const auto below = [&](size_t i) { return dot(places[i].centre(), down); };
  const auto beside = [&](size_t i) { return dot(places[i].centre(), across); };
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return below(a) < below(b); });
  for (auto first = order.begin(); first != order.end();) {
    // What lies lower than the first by less than half of the lower one's height is in its line.
    const auto next = std::find_if(first, order.end(), [&](size_t i) {
      const double apart = std::min(places[i].height(), places[*first].height()) / 2;
      return i != *first && below(i) - below(*first) >= apart;
    });
    std::stable_sort(first, next, [&](size_t a, size_t b) { return beside(a) < beside(b); });
    first = next;
  }
  return order;
}

}  // namespace ocr
