// Which kernel variant runs a call: the fastest that the evidence vouches for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/trial/cases.h"
#include "runtime/plan/evidence.h"

namespace clvet {

struct ChosenVariant {
  Variant variant;
  std::shared_ptr<const Program> program;
  KernelCall call;
  double gflops = 0;
  // Where the variant that was wanted is not trusted: its name and what the report says of it.
  std::string instead_of, verdict;
};

class VariantChooser {
 public:
  // The device's class ranks variants that were not timed; its limits bound the size of images.
  // `type`: how the weights of ops that have some are stored.
  VariantChooser(const Catalog& catalog, DeviceEvidence evidence, DeviceFeatures features,
                 WeightType type = WeightType::kFloat);

  // Tries `wanted`, then other storages (buffers last), then the next higher precisions. nullopt:
  // nothing trusted can run the call; `reason` says what was missing.
  std::optional<ChosenVariant> choose(const std::string& op, const Dims& dims,
                                      const Scalars& scalars, const Combination& wanted,
                                      std::string& reason) const;

 private:
  struct Row {
    Variant variant;
    std::shared_ptr<const Program> program;
    const VariantEvidence* evidence = nullptr;
  };
  std::vector<const Row*> rows(const std::string& op, Precision precision, Storage activations,
                               std::optional<Storage> weights) const;
  bool better(const Row& left, const Row& right) const;

  DeviceEvidence evidence_;
  DeviceFeatures features_;
  std::multimap<std::string, Row, std::less<>> rows_;
};

}  // namespace clvet
