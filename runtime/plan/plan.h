// What was decided for a model on a device: the kernel of each node, the memory objects, the steps.
// Plain data; nothing here holds a driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/op_def.h"
#include "runtime/ops/view.h"

namespace clvet {

// What a caller insists on; empty: the planner chooses.
struct PlanOverrides {
  std::optional<Precision> precision;
  std::optional<Memory> memory;
  std::optional<Storage> activations, weights;
};

enum class Place { kHost, kDevice, kAlias };

struct PlannedNode {
  std::string name, op;
  Place place = Place::kHost;
  std::string kernel;  // variant name, on the device
  std::string variant_key;
  std::string reason;  // why the host
};

struct Fallback {
  std::string node, from, to, verdict;
};

// A graph value in device memory, or (value == kNoValue) what calls of one node hand on. Integers
// are there as row numbers alone (role.kind is kIndices), in a buffer, in row-major order.
struct DeviceTensor {
  ValueId value = kNoValue;
  Shape shape;      // logical
  TensorRole role;  // extents on the device
  View view = View::kChannelsFirst;
  Storage storage = Storage::kBuffer;
  Precision precision = Precision::kHigh;  // of the storage type
  int slot = -1;                           // buffers: index in slot_bytes; images and constants: -1
  int alias = -1;                          // tensor whose memory this one is
  bool constant = false;                   // uploaded once
};

// Its bytes on the device.
size_t device_bytes(const DeviceTensor& tensor);

// An activation of these extents.
TensorRole activation_role(const Nhwc& extent);

// A constant argument, packed when the session is made.
struct DeviceConstant {
  int node = 0;
  TensorRole role;
  ArgKind kind = ArgKind::kVector;
  Storage storage = Storage::kBuffer;
  Precision precision = Precision::kHigh;
  int64_t pack = 0;
  std::function<Values(const OpCall& call)> make;  // none: zeros
};

enum class StepKind { kUpload, kDownload, kKernel, kHost };

struct PlanStep {
  StepKind kind = StepKind::kHost;
  int node = -1;     // kKernel (-1: a copy between storages) and kHost
  int tensor = -1;   // kUpload, kDownload
  int program = -1;  // kKernel
  KernelCall call;   // kKernel
  // For each argument of `call`: tensor index, or constant index, or neither for a scalar.
  struct Object {
    int tensor = -1, constant = -1;
  };
  std::vector<Object> objects;
};

struct ExecutionPlan {
  Combination combination;
  std::vector<PlannedNode> nodes;  // as in the graph
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<DeviceTensor> tensors;
  std::vector<int64_t> slot_bytes;
  std::vector<DeviceConstant> constants;
  std::vector<PlanStep> steps;
  std::vector<Fallback> fallbacks;
  double estimated_ms = 0;
  int device_nodes = 0;
};

}  // namespace clvet
