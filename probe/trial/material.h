// What a trial case is fed and what is right: seeded inputs with edge values, and the float64
// reference. Made by the supervisor; the worker never sees a reference.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/fd.h"
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

class MaterialStore {
 public:
  // Made on first use and kept until two other ops were asked for.
  Result<std::shared_ptr<const Material>> get(const TrialCase& trial);

 private:
  // Shapes of one name may differ between the manifests of an op.
  using Key = std::tuple<Dims, Scalars, bool, std::optional<WeightType>>;
  // What was generated for a shape serves every precision.
  using InputKey = std::tuple<std::string, Dims, Scalars>;
  struct OfOp {
    std::string op;
    std::map<InputKey, std::shared_ptr<const CallValues>> inputs;
    std::map<Key, std::shared_ptr<const Material>> made;
  };
  OfOp& of_op(const std::string& op);
  OfOp latest_, earlier_;
};

// A trial ready to be sent: the request, the descriptors beside it, and where the outputs come
// back.
struct PreparedTrial {
  TrialRequest request;
  std::vector<UniqueFd> fds;
  std::vector<size_t> outputs;  // their indices in request.memory, in the order of the arguments
  double flops = 0;             // of one launch; 0 where the op has no reduction
};
// `slot`: as TrialRequest has it.
Result<PreparedTrial> prepare_trial(const TrialCase& trial, const Material& material,
                                    int slot = -1);

}  // namespace clvet
