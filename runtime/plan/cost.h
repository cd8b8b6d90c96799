// Predicted times, from what the probe measured on the device alone. What was not measured costs
// nothing here, so that it decides nothing.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/report.h"

namespace clvet {

// What one launch has to do: multiplications and additions, and bytes that it reads or writes.
struct CallWork {
  double flops = 0, bytes = 0;
};
// `roles` are the contract's for these dims. `type`: how the weights are stored, where there are
// some.
CallWork work_of(std::string_view op, const Dims& dims, const std::vector<TensorRole>& roles,
                 Precision precision, WeightType type);

// A launch of a kernel that was waited for.
struct TimedLaunch {
  CallWork work;
  double ms = 0;
};

class CostModel {
 public:
  CostModel() = default;
  // `best_gflops`: of the fastest kernel that was timed on the device; 0 where none was.
  CostModel(const PeaksReport& peaks, double best_gflops);

  // The kernel's own time, the launch apart: on the line through the two nearest timed launches;
  // of less work than all of them between its share of the smallest's time and all of that, of more
  // work between the largest's time and its multiple. 0 where none was timed.
  double kernel_ms(const std::vector<TimedLaunch>& timed, const CallWork& work) const;
  // No kernel reads these bytes faster than the device's memory gives them; for what is read once,
  // so that no cache holds it.
  double cold_ms(double bytes) const { return bytes * ms_a_byte_; }
  // Of one launch among others, and of one that is waited for.
  double piped_ms() const { return piped_launch_ms_; }
  double launch_ms() const { return launch_ms_; }
  double upload_ms(double bytes) const { return write_ms_ + bytes * write_ms_a_byte_; }
  double download_ms(double bytes) const { return read_ms_ + bytes * read_ms_a_byte_; }

 private:
  double ideal_ms(const CallWork& work) const;

  double launch_ms_ = 0, piped_launch_ms_ = 0;
  double read_ms_ = 0, read_ms_a_byte_ = 0, write_ms_ = 0, write_ms_a_byte_ = 0;
  double ms_a_flop_ = 0, ms_a_byte_ = 0;
};

}  // namespace clvet
