#include "text_boxes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "geometry.h"

namespace ocr {
namespace {

struct Mask {
  int width, height;
  std::vector<char> on;

  char& at(int x, int y) { return on[static_cast<size_t>(y) * width + x]; }
  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
};

// Above the threshold, each such pixel spread to the one right of it, below it and between them.
Mask text_mask(std::span<const float> map, int width, int height, double threshold) {
  Mask mask{width, height, std::vector<char>(map.size(), 0)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (static_cast<double>(map[static_cast<size_t>(y) * width + x]) <= threshold) continue;
      for (const auto& [dx, dy] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}}) {
        if (mask.inside(x + dx, y + dy)) mask.at(x + dx, y + dy) = 1;
      }
    }
  }
  return mask;
}

// Takes the pixels that hang together with (x, y), diagonals too, off the mask; their centres.
std::vector<Point> take_component(Mask& mask, int x, int y) {
  std::vector<std::pair<int, int>> open = {{x, y}};
  std::vector<Point> points;
  mask.at(x, y) = 0;
  while (!open.empty()) {
    const auto [px, py] = open.back();
    open.pop_back();
    points.push_back({px + 0.5, py + 0.5});
    for (int ny = py - 1; ny <= py + 1; ++ny) {
      for (int nx = px - 1; nx <= px + 1; ++nx) {
        if (!mask.inside(nx, ny) || !mask.at(nx, ny)) continue;
        mask.at(nx, ny) = 0;
        open.emplace_back(nx, ny);
      }
    }
  }
  return points;
}

double mean_inside(std::span<const float> map, int width, int height, const Quad& box) {
  const Point reach = {std::abs(box.across.x) + std::abs(box.down.x),
                       std::abs(box.across.y) + std::abs(box.down.y)};
  const Point from = box.centre() - reach * 0.5, to = box.centre() + reach * 0.5;
  const int y1 = std::min(height, static_cast<int>(to.y) + 1);
  const int x1 = std::min(width, static_cast<int>(to.x) + 1);
  double sum = 0;
  int count = 0;
  for (int y = std::max(0, static_cast<int>(from.y)); y < y1; ++y) {
    for (int x = std::max(0, static_cast<int>(from.x)); x < x1; ++x) {
      if (!box.contains({x + 0.5, y + 0.5})) continue;
      sum += static_cast<double>(map[static_cast<size_t>(y) * width + x]);
      ++count;
    }
  }
  return count ? sum / count : 0;
}

}  // namespace

std::vector<Quad> find_text_boxes(std::span<const float> map, int width, int height,
                                  const BoxOptions& options) {
  Mask mask = text_mask(map, width, height, options.threshold);
  std::vector<Quad> boxes;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width && boxes.size() < options.most_boxes; ++x) {
      if (!mask.at(x, y)) continue;
      const Quad box = smallest_rectangle(take_component(mask, x, y));
      const double w = box.width(), h = box.height();
      if (std::min(w, h) < options.least_side) continue;
      if (mean_inside(map, width, height, box) < options.box_score) continue;
      boxes.push_back(box.grown(w * h * options.unclip / (2 * (w + h))));
    }
  }
  return boxes;
}

}  // namespace ocr
