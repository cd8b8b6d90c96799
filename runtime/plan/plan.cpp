#include "runtime/plan/plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/view.h"
#include "runtime/plan/plan_words.h"

namespace clvet {

const char* to_string(Place place) { return plan_words::kPlaces.at(static_cast<size_t>(place)); }

TensorRole role_of(const DeviceTensor& tensor) {
  TensorRole role = activation_role(tensor.extent);
  if (tensor.row_numbers > 0) {
    role.kind = TensorKind::kIndices;
    role.extent = tensor.row_numbers;
  }
  return role;
}

TensorRole activation_role(const Nhwc& extent) {
  TensorRole role;
  role.n = extent.n;
  role.h = extent.h;
  role.w = extent.w;
  role.c = extent.c;
  return role;
}

// In a buffer however the rows are split, in an image with lines of one length.
bool same_bytes(const Nhwc& a, const Nhwc& b, Storage storage) {
  return a.c == b.c && a.rows() == b.rows() && (storage == Storage::kBuffer || a.w == b.w);
}

size_t device_bytes(const DeviceTensor& tensor) {
  const TensorRole role = role_of(tensor);
  if (tensor.row_numbers > 0) return static_cast<size_t>(role.elements()) * sizeof(int32_t);
  return activation_bytes(role, storage_precision(tensor.half));
}

bool lies_as_on_host(const DeviceTensor& tensor) {
  const bool floats = tensor.storage == Storage::kBuffer && !tensor.half && tensor.row_numbers == 0;
  return floats && same_order(tensor.shape, tensor.view, View::kChannelsLast) &&
         device_bytes(tensor) == static_cast<size_t>(elements_of(tensor.shape)) * sizeof(float);
}

double ExecutionPlan::ms() const {
  double sum = phases.empty() ? 0 : phases.front().ms;
  if (phases.size() > 1) sum += phases[1].ms / kPromptRows;
  return sum;
}

int ExecutionPlan::device_nodes() const {
  int count = 0;
  for (const PlanPhase& phase : phases) {
    count += static_cast<int>(
        std::count_if(phase.nodes.begin(), phase.nodes.end(),
                      [](const PlannedNode& node) { return node.place != Place::kHost; }));
  }
  return count;
}

std::vector<std::string> variants_of(const PlanPhase& phase) {
  std::vector<std::string> variants(phase.nodes.size());
  for (const PlanStep& step : phase.steps) {
    if (step.kind == StepKind::kKernel && step.node >= 0) {
      variants.at(static_cast<size_t>(step.node)) = step.variant;
    }
  }
  return variants;
}

}  // namespace clvet
