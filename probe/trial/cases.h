// Which kernel cases are tried on a device: the plan of a probe. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/device_features.h"
#include "probe/trial/blame.h"

namespace clvet {

enum class Tier { kCore, kFull };

struct TrialCase {
  std::string id;  // "<variant name>/<shape name>", unique on a device
  Variant variant;
  const TestShape* shape = nullptr;
  std::shared_ptr<const Program> program;  // shared by the shapes of a variant
  bool timed = false;                      // see timed_shapes()
  std::string unsupported;                 // why it is not tried; empty: it is
};

KernelMakeup makeup_of(const TrialCase& trial);

// core: for each legal combination, op and weight type the variant that ranks first on this class
// of device, and while that one does not take every call the next, with every test shape; none of
// those that are for the full tier. On a processor it has one variant with images for each of
// these: the first that takes every call, if there is one. full: every variant, trial-only ones
// too. Cases that need what the device does not advertise are listed with the reason. Cases of one
// program are neighbours.
Result<std::vector<TrialCase>> plan_cases(const Catalog& catalog, const DeviceFeatures& features,
                                          Tier tier);

// Which of a variant's shapes are timed where neither its op nor its manifest names any, so that
// time as a function of work can be interpolated: those with the least and the most work, and the
// one nearest to the middle of the two on a logarithmic scale. `work` is that of each shape, 0 for
// one that is not tried; of equals the first. On a processor the core tier times two shapes of
// those that use images: the ones with the least work.
std::vector<size_t> timed_shapes(const std::vector<double>& work);

// Keeps the cases whose name contains one of the patterns, in which `*` stands for any text. No
// pattern keeps all.
void keep_cases(const std::vector<std::string>& patterns, std::vector<TrialCase>& cases);

}  // namespace clvet
