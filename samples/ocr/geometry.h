// Points and rectangles of any direction. Image coordinates: x to the right, y down.
#pragma once

#include <vector>

namespace ocr {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};
inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
inline Point operator*(Point a, double k) { return {a.x * k, a.y * k}; }
inline double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
inline double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
double length(Point a);

// A parallelogram: a corner and the edges that leave it. Of a line of text, `across` runs along the
// text and `down` from its top to its bottom.
struct Quad {
  Point corner, across, down;

  double width() const { return length(across); }
  double height() const { return length(down); }
  Point centre() const { return corner + (across + down) * 0.5; }
  // Where fractions of both edges lead; 0..1 is inside.
  Point at(double s, double t) const { return corner + across * s + down * t; }
  bool contains(Point point) const;
  // Every edge moved outwards by `distance`: the smallest rectangle around a rectangle whose
  // outline was offset with round corners.
  Quad grown(double distance) const;
  // The same place read upside down, or read from bottom to top of what stood upright.
  Quad turned_half() const { return {corner + across + down, across * -1, down * -1}; }
  Quad turned_quarter() const { return {corner + across, down, across * -1}; }
  Quad scaled(double kx, double ky) const;
};

// The corners of the convex hull, in order around it; fewer than 3 where all points lie in a line.
std::vector<Point> convex_hull(std::vector<Point> points);

// The rectangle of least area around the points; `across` is the edge nearer to the horizontal and
// leads to the right. Edges of length 0 where the points lie in a line. At least one point.
Quad smallest_rectangle(const std::vector<Point>& points);

}  // namespace ocr
