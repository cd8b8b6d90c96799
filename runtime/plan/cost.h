// Predicted times, from what the probe measured on the device alone. What was not measured costs
// nothing here, so that it decides nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/report.h"
#include "runtime/plan/kernel_time.h"

namespace clvet {

// `roles` are the contract's for these dims. `type`: how the weights are stored, where there are
// some.
CallWork work_of(std::string_view op, const Dims& dims, const std::vector<TensorRole>& roles,
                 Precision precision, WeightType type);

// A launch of a kernel that was waited for.
struct TimedLaunch {
  CallWork work;
  double ms = 0;
  double piped_ms = 0;  // of one among others; 0: not timed
};

class CostModel {
 public:
  CostModel() = default;
  // `in_turn`: the device is a processor; `best_gflops`: of its fastest kernel that was timed; 0
  // where none was; `compute_units`: 0 where they are not known.
  CostModel(const PeaksReport& peaks, bool in_turn, double best_gflops, int64_t compute_units = 0);

  // The kernel's own time, the launch apart (kernel_time.h). 0 where none was timed.
  double kernel_ms(const std::vector<TimedLaunch>& timed, const CallWork& work) const;
  // The least time of that work: its operations at the rate of the fastest kernel that was timed,
  // or its bytes at the memory's, whichever is longer. 0: neither is known.
  double bound_ms(const CallWork& work) const {
    return std::max(work.flops * costs_.ms_a_flop, work.bytes * costs_.ms_a_byte);
  }
  // No kernel reads these bytes faster than the device's memory gives them; for what is read once,
  // so that no cache holds it.
  double cold_ms(double bytes) const { return bytes * costs_.ms_a_byte; }
  // Of one launch among others of the kernel that was timed so; no less than of an empty one. GPUs
  // compute while the host launches: a short kernel tells there what the driver spends on its
  // arguments (on an H200 an image costs some 0.5 us, a launch 6). The host does that
  // while the kernel before runs, so that long kernels, `kernel_ms`, hide it: all of it that is
  // beyond an empty launch, or hidden_ms() of what they take beyond one.
  double piped_ms(const std::vector<TimedLaunch>& timed, double kernel_ms) const;
  // What so much more of a kernel's time hides of the launches of a GPU: half, as it depends on the
  // network whether the device waits for the host or the host for the device.
  static double hidden_ms(double kernel_ms) { return kernel_ms / 2; }
  // By so much the predictions of two kernels of a GPU may differ that take the same time,
  // `kernel_ms`, for these bytes: where the launch takes longer, part of the wait for it; a
  // twentieth where the kernel is about as fast as the memory, which then bounds both alike.
  double noise_ms(double kernel_ms, double bytes) const;
  // Of one launch as a node is timed: among others on a processor, waited for on a GPU.
  double node_launch_ms() const { return in_turn_ ? piped_launch_ms_ : launch_ms_; }
  double upload_ms(double bytes) const { return write_ms_ + bytes * write_ms_a_byte_; }
  double download_ms(double bytes) const { return read_ms_ + bytes * read_ms_a_byte_; }

 private:
  double launch_ms_ = 0, piped_launch_ms_ = 0;
  double read_ms_ = 0, read_ms_a_byte_ = 0, write_ms_ = 0, write_ms_a_byte_ = 0;
  UnitCosts costs_;
  bool in_turn_ = false;
};

}  // namespace clvet
