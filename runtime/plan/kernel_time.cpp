#include "runtime/plan/kernel_time.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace clvet {
namespace {

double at_best(const CallWork& work, const UnitCosts& costs) {
  const double ms = work.flops * costs.ms_a_flop + work.bytes * costs.ms_a_byte;
  return ms > 0 ? ms : work.bytes;
}

using Coefficients = Eigen::Vector4d;  // of 1, log elements, log terms of each, log bytes
using Square = Eigen::Matrix4d;

// What a launch that nothing is known of follows: between a device with room for all elements at
// once (0, 1, 0), and one that waits for its memory (0, 0, 1).
const Coefficients kPrior(0, 0.3, 0.7, 0.3);
constexpr double kSlack = 0.3;    // variance of an exponent around the prior
constexpr double kFreedom = 25;   // of the constant: devices differ
constexpr double kMisfit = 0.05;  // variance of log ms around the law: a factor of 1.25
constexpr double kLargestLog = 50;
// By so much the law still tells kernels apart that would all be as fast as they can.
constexpr double kEdge = 0.05;

double log_of(double value) { return std::log(std::max(value, 1.0)); }

Coefficients logs_of(const CallWork& work) {
  const double outputs = std::max(work.outputs, 1.0);
  return {1, log_of(outputs), log_of(work.flops / (2 * outputs)), log_of(work.bytes)};
}

// How unlike two launches are: by the terms and the bytes of an element, and a little by how many
// elements there are.
double distance(const CallWork& a, const CallWork& b) {
  constexpr double kSize = 0.25;
  const Coefficients apart = logs_of(a) - logs_of(b);
  return std::hypot(kSize * apart[1], apart[2], apart[3] - apart[1]);
}

struct Sample {
  Coefficients x;
  double y, weight;
};

std::vector<Sample> samples_of(const std::vector<OwnTime>& timed) {
  std::vector<Sample> samples;
  for (const OwnTime& row : timed) {
    samples.push_back({logs_of(row.work), std::log(row.ms), 1 / (kMisfit + row.noise * row.noise)});
  }
  return samples;
}

Coefficients centre_of(const std::vector<Sample>& samples) {
  Coefficients centre = Coefficients::Zero();
  double weights = 0;
  for (const Sample& sample : samples) {
    centre += sample.weight * sample.x;
    weights += sample.weight;
  }
  centre /= weights;
  centre[0] = 0;  // of the constant
  return centre;
}

// Minimises sum(weight * (x . c - log ms)^2) + sum((c - prior)^2 / variance) over c, with x from
// `centre`.
Coefficients law_of(const std::vector<Sample>& samples, const Coefficients& centre) {
  Square left = Coefficients(1 / kFreedom, 1 / kSlack, 1 / kSlack, 1 / kSlack).asDiagonal();
  Coefficients right = Coefficients::Zero();
  for (const Sample& sample : samples) {
    const Coefficients x = sample.x - centre;
    left += sample.weight * x * x.transpose();
    right += sample.weight * (sample.y - x.dot(kPrior)) * x;
  }
  return kPrior + left.ldlt().solve(right);
}

// Flops a millisecond; a launch of less than `busy` elements could have done as many more.
double best_rate(const std::vector<OwnTime>& timed, double busy) {
  double best = 0;
  for (const OwnTime& row : timed) {
    const double more = std::max(busy / std::max(row.work.outputs, 1.0), 1.0);
    best = std::max(best, more * row.work.flops / row.ms);
  }
  return best;
}

}  // namespace

double time_on_line(const std::vector<OwnTime>& timed, const CallWork& work,
                    const UnitCosts& costs) {
  struct Point {
    double ideal, ms, far;
  };
  std::vector<Point> points;
  for (const OwnTime& row : timed) {
    points.push_back({at_best(row.work, costs), row.ms, distance(row.work, work)});
  }
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.ideal < b.ideal; });
  const double wanted = at_best(work, costs);
  size_t after = 1;
  while (after + 1 < points.size() && points[after].ideal < wanted) ++after;
  const bool less = wanted<points.front().ideal, more = wanted> points.back().ideal;
  const Point near = less ? points.front() : *std::ranges::min_element(points, {}, &Point::far);
  const double in_proportion = near.ideal > 0 ? near.ms * wanted / near.ideal : near.ms;
  if (points.size() == 1 || points[after].ideal <= points[after - 1].ideal) return in_proportion;
  const Point &a = points[after - 1], &b = points[after];
  const double on_line = a.ms + (b.ms - a.ms) * (wanted - a.ideal) / (b.ideal - a.ideal);
  if (less) return std::clamp(on_line, in_proportion, near.ms);
  if (!more) return on_line;
  return near.ideal < b.ideal || b.ms < a.ms ? in_proportion
                                             : std::clamp(on_line, near.ms, in_proportion);
}

double time_by_power_law(const std::vector<OwnTime>& timed, const CallWork& work,
                         const UnitCosts& costs) {
  const std::vector<Sample> samples = samples_of(timed);
  const Coefficients centre = centre_of(samples);
  const Coefficients law = law_of(samples, centre);
  const double by_law =
      std::exp(std::clamp(law.dot(logs_of(work) - centre), -kLargestLog, kLargestLog));
  const double rate = best_rate(timed, std::min(work.outputs, costs.elements));
  const double least = std::max(rate > 0 ? work.flops / rate : 0, work.bytes * costs.ms_a_byte);
  return by_law > least ? by_law : least - kEdge * (least - by_law);
}

double time_of_layers(const std::vector<OwnTime>& timed, const CallWork& work,
                      const UnitCosts& costs) {
  double layer = std::numeric_limits<double>::infinity();
  for (const OwnTime& row : timed) layer = std::min(layer, row.ms / std::max(row.work.layers, 1.0));
  return work.layers * layer + work.bytes * costs.ms_a_byte;
}

}  // namespace clvet
