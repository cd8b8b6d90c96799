#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace ocr {
namespace {

// The rectangle around the points whose edges run along and across `direction` (of length 1).
Quad rectangle_along(const std::vector<Point>& points, Point direction) {
  const Point normal = {-direction.y, direction.x};
  double s0 = dot(points[0], direction), t0 = dot(points[0], normal), s1 = s0, t1 = t0;
  for (const Point& point : points) {
    const double s = dot(point, direction), t = dot(point, normal);
    s0 = std::min(s0, s), s1 = std::max(s1, s);
    t0 = std::min(t0, t), t1 = std::max(t1, t);
  }
  return {direction * s0 + normal * t0, direction * (s1 - s0), normal * (t1 - t0)};
}

// The direction of this edge, or of the one square to it, that leads most to the right.
Point rightwards(Point edge) {
  const Point unit = edge * (1 / length(edge));
  const Point flat = std::abs(unit.x) >= std::abs(unit.y) ? unit : Point{-unit.y, unit.x};
  return flat.x < 0 ? flat * -1 : flat;
}

}  // namespace

double length(Point a) { return std::hypot(a.x, a.y); }

bool Quad::contains(Point point) const {
  const double area = cross(across, down);
  if (area == 0) return false;
  const double s = cross(point - corner, down) / area, t = cross(across, point - corner) / area;
  return s >= 0 && s <= 1 && t >= 0 && t <= 1;
}

Quad Quad::grown(double distance) const {
  const double w = width(), h = height();
  if (w == 0 || h == 0) return *this;
  const double ds = distance / w, dt = distance / h;
  return {at(-ds, -dt), across * (1 + 2 * ds), down * (1 + 2 * dt)};
}

Quad Quad::scaled(double kx, double ky) const {
  const auto scale = [&](Point point) { return Point{point.x * kx, point.y * ky}; };
  return {scale(corner), scale(across), scale(down)};
}

std::vector<Point> convex_hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end(),
            [](Point a, Point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Point> hull;
  const auto add = [&](Point point, size_t base) {
    while (hull.size() >= base + 2 &&
           cross(hull.back() - hull[hull.size() - 2], point - hull.back()) <= 0) {
      hull.pop_back();
    }
    hull.push_back(point);
  };
  for (const Point& point : points) add(point, 0);
  const size_t upper = hull.size() - 1;
  for (auto point = points.rbegin() + 1; point != points.rend(); ++point) add(*point, upper);
  hull.pop_back();
  return hull;
}

Quad smallest_rectangle(const std::vector<Point>& points) {
  const std::vector<Point> hull = convex_hull(points);
  Quad best = rectangle_along(hull, {1, 0});
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; hull.size() > 1 && i < hull.size(); ++i) {
    const Point edge = hull[(i + 1) % hull.size()] - hull[i];
    const Quad quad = rectangle_along(hull, rightwards(edge));
    if (const double area = quad.width() * quad.height(); area < least) {
      least = area;
      best = quad;
    }
  }
  return best;
}

}  // namespace ocr
