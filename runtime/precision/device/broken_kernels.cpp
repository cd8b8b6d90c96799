#include "runtime/precision/device/broken_kernels.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/plan/plan.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/device/device_network.h"
#include "runtime/precision/device/watch_device.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/watch.h"

namespace clvet {
namespace {

// A kernel that is avoided has a few others behind it, and then the host.
constexpr int kMostRounds = 8;

std::vector<BrokenKernel> broken_of(const Watched& watched, const PlanPhase& phase) {
  // Far more than float32 makes, and what no diagnosis of half can do with.
  const double bound = isolated_bound(NumberFormat::kHalf);
  const std::vector<std::string> variants = variants_of(phase);
  std::vector<BrokenKernel> broken;
  for (size_t n = 0; n < variants.size(); ++n) {
    const Deviation& alone = watched.seen.nodes[n].isolated;
    if (variants[n].empty() || !(alone.part() > bound)) continue;
    if (std::ranges::find(broken, variants[n], &BrokenKernel::kernel) == broken.end())
      broken.push_back({phase.nodes[n].name, variants[n], alone});
  }
  return broken;
}

}  // namespace

Result<std::vector<BrokenKernel>> avoid_broken_kernels(DeviceNetwork& network,
                                                       const CalibrationInput& input) {
  std::vector<BrokenKernel> broken;
  for (int round = 0; round < kMostRounds; ++round) {
    CLVET_ASSIGN_OR_RETURN(Session * session, network.place().session(network.everything()));
    CLVET_ASSIGN_OR_RETURN(const Watched watched,
                           watch_alone(network.emulation(), *session, input.values));
    const auto more = broken_of(watched, session->plan().phases.front());
    if (more.empty()) break;
    for (const BrokenKernel& one : more) {
      CLVET_RETURN_IF_ERROR(network.place().avoid(
          one.kernel, fmt::format("at '{}' its result differs from the host's by {:.3g} times "
                                  "the size of that",
                                  one.node, one.deviation.part())));
      broken.push_back(one);
    }
  }
  return broken;
}

}  // namespace clvet
