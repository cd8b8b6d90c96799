// What a trial case is fed and what is right: seeded inputs with edge values, and the float64
// reference. Made by the supervisor; the worker never sees a reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/memory.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/trial/cases.h"
#include "probe/trial/request.h"

namespace clvet {

// Inputs and the reference of one call. Serves every combination with the same storage rounding and
// weight type: the inputs are what the device sees after rounding, so that only the kernel's own
// arithmetic separates it from the reference.
struct Material {
  std::vector<TensorRole> roles;
  std::shared_ptr<const CallValues> inputs;  // as generated; weights not yet quantised
  ReferenceResult reference;
};

// Safe to be asked by several threads: of two that want the same, one waits until the other made
// it.
class MaterialStore {
 public:
  // `most`: as many bytes as are kept before something goes. A core probe makes nearly 1 GiB.
  explicit MaterialStore(size_t most = share_of_memory(16, size_t{256} << 20, size_t{1} << 30))
      : most_(most) {}

  // Made on first use, and kept until two other ops were asked for; after that while there is room:
  // what was not asked for the longest time goes first.
  Result<std::shared_ptr<const Material>> get(const TrialCase& trial);

 private:
  // An op, and a shape of it: shapes of one name may differ between the manifests of an op.
  using ShapeKey = std::tuple<std::string, std::string, Dims, Scalars>;
  // Whether activations are halves, and what the weights are.
  using Rounding = std::pair<bool, std::optional<WeightType>>;
  // What was generated for a shape serves every rounding.
  struct OfShape {
    std::mutex making;  // of the two that follow
    std::shared_ptr<const CallValues> inputs;
    std::map<Rounding, std::shared_ptr<const Material>> made;
    size_t bytes = 0;       // of all that, as far as it was made; the store's
    uint64_t last_use = 0;  // in order; the store's
  };
  std::shared_ptr<OfShape> shape_of(const TrialCase& trial);
  void count(OfShape& shape, size_t bytes);
  void make_room();

  size_t most_;
  std::mutex mutex_;  // of what follows
  std::map<ShapeKey, std::shared_ptr<OfShape>> shapes_;
  std::string latest_, earlier_;  // ops
  uint64_t uses_ = 0;
};

// A trial ready to be sent: the request, the descriptors beside it, and where the outputs come
// back.
struct PreparedTrial {
  TrialRequest request;
  std::vector<UniqueFd> fds;
  std::vector<size_t> outputs;  // their indices in request.memory, in the order of the arguments
  double flops = 0;             // of one launch; 0 where the op has no reduction

  uint64_t bytes() const;  // of all that the descriptors hold
  // For another trial of the same: inputs are sealed and stay as they are, outputs become new ones,
  // in which nothing was written yet.
  Status renew_outputs();
};
// `slot`: as TrialRequest has it.
Result<PreparedTrial> prepare_trial(const TrialCase& trial, const Material& material,
                                    int slot = -1);

}  // namespace clvet
