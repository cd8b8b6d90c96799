#include "runtime/plan/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/report.h"
#include "runtime/plan/kernel_time.h"

namespace clvet {
namespace {

constexpr double kMsAUs = 1e-3;

double dim_or_one(const Dims& dims, std::string_view name) {
  const auto found = dims.find(name);
  return found == dims.end() ? 1 : static_cast<double>(std::max<int64_t>(found->second, 1));
}

// What multiplies by weights computes whole texels from whole texels, padding lanes included.
constexpr int64_t kLanes = 4;

const TensorRole* weights_among(const std::vector<TensorRole>& roles) {
  const auto found = std::find_if(roles.begin(), roles.end(), [](const TensorRole& role) {
    return role.kind == TensorKind::kWeights;
  });
  return found == roles.end() ? nullptr : &*found;
}

// Taps whose products an output costs.
double taps_of(std::string_view op, const Dims& dims, const TensorRole& weights) {
  const auto taps = static_cast<double>(weights.taps);
  // Each of the matrices of gemm_batch has outputs of its own.
  if (op == "gemm_batch") return 1;
  // Of Winograd's, four outputs share all.
  if (op == "winograd") return taps / 4;
  // A transposed convolution's tap reaches one output of a stride.
  if (op == "conv_transpose")
    return taps / dim_or_one(dims, "stride_h") / dim_or_one(dims, "stride_w");
  return taps;
}

// Terms that each output element sums, those that others have as well in part.
double terms_of(std::string_view op, const Dims& dims, const TensorRole* weights) {
  // Scores, then values.
  const double attended = 2 * (dim_or_one(dims, "P") + dim_or_one(dims, "M"));
  if (op == "attention_qkv") return static_cast<double>(round_up(weights->cin, kLanes)) + attended;
  if (weights) {
    const int64_t cin = weights->pad_cin ? round_up(weights->cin, kLanes) : weights->cin;
    // A pixel's values are made of their windows once, for all outputs.
    const double middle = op == "depthwise_gemm"
                              ? static_cast<double>(cin) * dim_or_one(dims, "KH") *
                                    dim_or_one(dims, "KW") /
                                    static_cast<double>(round_up(weights->cout, kLanes))
                              : 0;
    // Of a gated product two columns make one output.
    const auto gated = dims.find("gated");
    const int64_t columns = gated != dims.end() && gated->second > 0 ? 2 : 1;
    return taps_of(op, dims, *weights) * static_cast<double>(cin * columns) + middle;
  }
  if (op == "bmm") return dim_or_one(dims, "K");
  if (op == "attention" || op == "attention_rope") return attended;
  if (op == "pool_global") return dim_or_one(dims, "H") * dim_or_one(dims, "W");
  if (op == "reduce") return dim_or_one(dims, "C");
  return dim_or_one(dims, "KH") * dim_or_one(dims, "KW");
}

// A move fetches and stores the channels of each pixel apart, as whole lines of a cache.
double share_of_lines(std::string_view op, double row_bytes) {
  constexpr double kLine = 64;
  return op == "move" && row_bytes > 0 ? std::min(row_bytes / kLine, 1.0) : 1;
}

bool holds_numbers(const TensorRole& role) {
  return role.kind == TensorKind::kVector || role.kind == TensorKind::kIndices ||
         role.kind == TensorKind::kState;
}

// Of a cache of `cap` positions, or of their angles, a call of M tokens at position P reads no
// later ones, and has to do with its own alone where it writes, or turns.
double share_of_positions(const Dims& dims, const TensorRole& role) {
  const double cap = dim_or_one(dims, "cap"), rows = dim_or_one(dims, "M");
  const auto first = dims.find("P");
  if (!dims.contains("cap") || first == dims.end()) return 1;
  const bool angles = role.kind == TensorKind::kVector &&
                      static_cast<double>(role.c) == cap * dim_or_one(dims, "D") / 2;
  if (angles) return rows / cap;
  if (holds_numbers(role) || static_cast<double>(role.h) != cap) return 1;
  const bool made = role.kind == TensorKind::kOutput;
  return made ? rows / cap : (static_cast<double>(first->second) + rows) / cap;
}

// What a call without a sum does not add.
bool is_unread(const Dims& dims, const TensorRole& role) {
  const auto add = dims.find("add");
  return role.name == "r" && add != dims.end() && add->second == 0;
}

// Of weights, vectors and indices.
double bytes_of_parameters(const Dims& dims, const std::vector<TensorRole>& roles,
                           Precision precision, WeightType type) {
  const double each = bytes_a_weight(precision, type);
  double bytes = 0;
  for (const TensorRole& role : roles) {
    if (holds_numbers(role))
      bytes += 4 * static_cast<double>(role.c) * share_of_positions(dims, role);
    if (role.kind == TensorKind::kWeights) bytes += static_cast<double>(role.elements()) * each;
  }
  return bytes;
}

// Of activations: elements and bytes that are made, and bytes that are read.
struct Traffic {
  double outputs = 0, written = 0, read = 0, largest_read = 0;
  double lines = 1;  // share of each cache line that is wanted
};

Traffic traffic_of(std::string_view op, const Dims& dims, const std::vector<TensorRole>& roles,
                   Precision precision, bool has_weights) {
  Traffic moved;
  for (const TensorRole& role : roles) {
    if (holds_numbers(role) || role.kind == TensorKind::kWeights || is_unread(dims, role)) continue;
    const double share = share_of_positions(dims, role);
    const double bytes = static_cast<double>(activation_bytes(role, precision)) * share;
    if (role.kind == TensorKind::kOutput) {
      const int64_t channels = has_weights ? round_up(role.c, kLanes) : role.c;
      const auto pixels = static_cast<double>(role.n * role.h * role.w) * share;
      moved.outputs += pixels * static_cast<double>(channels);
      moved.written += bytes;
      moved.lines = share_of_lines(op, bytes / pixels);
    } else {
      moved.read += bytes;
      moved.largest_read = std::max(moved.largest_read, bytes);
    }
  }
  return moved;
}

double positive_or_zero(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0 ? *value : 0;
}

double ms_a_byte(const std::optional<double>& gbs) {
  const double rate = positive_or_zero(gbs);
  return rate > 0 ? 1e-6 / rate : 0;
}

constexpr double kNoise = 0.1;  // of a timed launch, the empty launch included
// By so much of their time time_by_power_law() still tells kernels apart that are as fast as the
// memory.
constexpr double kMisjudged = 0.05;
constexpr double kNearMemory = 1.5;  // times what the memory needs

// GPUs run 8 to 64 items in step; with fewer for each compute unit some of it has nothing to do.
constexpr double kElementsOfAUnit = 64;

}  // namespace

CallWork work_of(std::string_view op, const Dims& dims, const std::vector<TensorRole>& roles,
                 Precision precision, WeightType type) {
  const TensorRole* weights = weights_among(roles);
  const Traffic moved = traffic_of(op, dims, roles, precision, weights != nullptr);
  // These read of their input no more than they write.
  const bool part = op == "move" || op == "gather";
  const double unread = part ? moved.largest_read - std::min(moved.largest_read, moved.written) : 0;
  CallWork work;
  work.bytes = bytes_of_parameters(dims, roles, precision, type);
  work.bytes += moved.written + (moved.read - unread);
  work.bytes /= moved.lines;
  work.outputs = moved.outputs;
  if (op == "decoder_layers") work.layers = dim_or_one(dims, "count");
  work.flops = 2 * moved.outputs * terms_of(op, dims, weights);
  if (const double multiplied = products_of_matrices(roles)) work.flops = 2 * multiplied;
  return work;
}

CostModel::CostModel(const PeaksReport& peaks, bool in_turn, double best_gflops,
                     int64_t compute_units)
    : launch_ms_(positive_or_zero(peaks.launch_us) * kMsAUs),
      piped_launch_ms_(positive_or_zero(peaks.piped_launch_us) * kMsAUs),
      read_ms_(positive_or_zero(peaks.read_us) * kMsAUs),
      read_ms_a_byte_(ms_a_byte(peaks.read_gbs)),
      write_ms_(positive_or_zero(peaks.write_us) * kMsAUs),
      write_ms_a_byte_(ms_a_byte(peaks.write_gbs)),
      costs_{best_gflops > 0 ? 1e-6 / best_gflops : 0, ms_a_byte(peaks.bandwidth_gbs),
             kElementsOfAUnit * static_cast<double>(std::max<int64_t>(compute_units, 0))},
      in_turn_(in_turn) {}

// Of a kernel that is longer than a launch the time among others says nothing of the launch.
double CostModel::piped_ms(const std::vector<TimedLaunch>& timed, double kernel_ms) const {
  constexpr double kHidden = 0.8;
  double least = std::numeric_limits<double>::infinity();
  for (const TimedLaunch& row : timed) {
    const bool hidden = row.ms - launch_ms_ < kHidden * row.piped_ms;
    if (!in_turn_ && row.piped_ms > 0 && hidden) least = std::min(least, row.piped_ms);
  }
  if (!(least > piped_launch_ms_) || !std::isfinite(least)) return piped_launch_ms_;
  return std::clamp(least - hidden_ms(kernel_ms - piped_launch_ms_), piped_launch_ms_, least);
}

double CostModel::noise_ms(double kernel_ms, double bytes) const {
  if (in_turn_) return 0;
  if (kernel_ms <= launch_ms_) return kNoise * launch_ms_;
  return kernel_ms <= kNearMemory * cold_ms(bytes) ? kMisjudged * kernel_ms : 0;
}

double CostModel::kernel_ms(const std::vector<TimedLaunch>& timed, const CallWork& work) const {
  std::vector<OwnTime> own;
  for (const TimedLaunch& row : timed) {
    // Where a wait costs much more than a short kernel, only launches without one tell its time.
    // Not so of a device that computes while the host launches: there short kernels take none.
    const bool piped = in_turn_ && row.piped_ms > 0 && piped_launch_ms_ > 0;
    // Behind another one a launch takes no longer than when it is waited for: more is a
    // disturbance.
    const double whole = piped ? std::min(row.piped_ms, row.ms) : row.ms;
    // A launch that took less than an empty one is lost in the noise.
    double ms = std::max(whole - (piped ? piped_launch_ms_ : launch_ms_), 0.02 * whole);
    // Launches of layers do not run beside each other: none takes longer than they come.
    const bool alone = !in_turn_ && row.work.layers > 0 && row.piped_ms > 0;
    if (alone) ms = std::min(ms, row.piped_ms);
    if (ms > 0 && std::isfinite(ms)) own.push_back({row.work, ms, kNoise * whole / ms});
  }
  if (own.empty()) return 0;
  if (in_turn_) return time_on_line(own, work, costs_);
  return work.layers > 0 ? time_of_layers(own, work, costs_) : time_by_power_law(own, work, costs_);
}

}  // namespace clvet
