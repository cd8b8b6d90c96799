// What was decided for a model on a device: where each node runs, the kernel variant of each call,
// the memory objects, the steps. The same for networks and language models. Plain data: it can be
// compared, written and read (plan_json.h), and holds no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/view.h"

namespace clvet {

// What a caller insists on; empty: the planner chooses.
struct PlanOverrides {
  std::optional<Precision> precision;
  std::optional<Memory> memory;
  std::optional<Storage> activations, weights;
  std::set<std::string, std::less<>> raised;  // nodes that stay at high, whatever the others have
};

enum class Place { kHost, kDevice, kAlias };
const char* to_string(Place place);  // "host", "opencl", "alias"

struct PlannedNode {
  std::string name, op;
  Place place = Place::kHost;
  std::string reason;     // why the host
  double ms = 0;          // predicted, hand-overs not counted; 0: no prediction
  bool untested = false;  // on the host because no trial has shown yet whether its kernel is right
  bool operator==(const PlannedNode&) const = default;
};

struct Fallback {
  std::string node, from, to, verdict;
  bool operator==(const Fallback&) const = default;
};

// How far a tensor of a language model reaches: kOfStep has a row for each token of a step, kOfText
// one for each position of the text. Their extents are those at the start.
enum class TensorRows { kFixed, kOfStep, kOfText };

// A value of the model in device memory, or (no name) what calls of one node hand on.
struct DeviceTensor {
  std::string value;
  Shape shape;              // logical
  Nhwc extent;              // on the device
  int64_t row_numbers = 0;  // not 0: `extent.c` integers, each the number of one of so many rows
  View view = View::kChannelsFirst;
  Storage storage = Storage::kBuffer;
  bool half = false;  // of the storage type
  TensorRows rows = TensorRows::kFixed;
  int slot = -1;          // buffers: index in slot_bytes; images and constants: -1
  int alias = -1;         // tensor whose memory this one is
  bool constant = false;  // a constant of the model, uploaded once
  bool operator==(const DeviceTensor&) const = default;
};

// Its bytes on the device.
size_t device_bytes(const DeviceTensor& tensor);
// Its bytes on the device are those of the float32 tensor on the host: no order, no type to change.
bool lies_as_on_host(const DeviceTensor& tensor);
// As a kernel's contract has it.
TensorRole role_of(const DeviceTensor& tensor);
// An activation of these extents.
TensorRole activation_role(const Nhwc& extent);
// Whether tensors of these extents are the same bytes.
bool same_bytes(const Nhwc& a, const Nhwc& b, Storage storage);
// The precision whose storage type a tensor has.
inline Precision storage_precision(bool half) {
  return half ? Precision::kNormal : Precision::kHigh;
}

// How the values of a constant argument are made when the plan is brought to a device. How they are
// packed there follows from the variant that reads them.
enum class ConstantSource {
  kZeros,
  kNode,    // OpDef::constant of `node`, for the role `name` and `part`
  kMatrix,  // rows of the matrix `name` (decoder_calls.h), from row `part` on
  kVector,  // the vector `name` (decoder_calls.h)
};
struct ConstantRecipe {
  ConstantSource source = ConstantSource::kZeros;
  int node = -1;
  std::string name;
  int64_t part = 0;
  auto operator<=>(const ConstantRecipe&) const = default;
};

enum class StepKind { kUpload, kDownload, kKernel, kHost };

struct PlanStep {
  StepKind kind = StepKind::kHost;
  int node = -1;    // kKernel (-1: a copy between storages or orders) and kHost
  int tensor = -1;  // kUpload, kDownload
  // kKernel
  std::string variant;  // Variant::name()
  std::string op;       // of the kernels contract
  Dims dims;
  Scalars scalars;
  std::map<std::string, int, std::less<>> tensors, constants;  // role -> index in the plan
  double ms = 0;                                               // predicted; kHost: of the node
  bool operator==(const PlanStep&) const = default;
};

// Tokens of a prompt that a plan reads at once: they stand for any number.
inline constexpr int kPromptRows = 16;

// Steps that run one after the other. A network has the phase "run"; a language model has "token",
// one token that is answered, and "prompt", kPromptRows that are read.
struct PlanPhase {
  std::string name;
  std::vector<PlannedNode> nodes;  // of a network: as in the graph
  std::vector<PlanStep> steps;
  double ms = 0;  // predicted for the whole phase
  bool operator==(const PlanPhase&) const = default;
};

// A combination that was not taken, and why.
struct RefusedCombination {
  Combination combination;
  std::string reason;
  bool runs = false;         // it has a plan
  double ms = 0;             // predicted; 0: no prediction
  double bytes = 0;          // of weights that a token reads (language models)
  bool unsupported = false;  // the device does not have what it needs
  bool operator==(const RefusedCombination&) const = default;
};

// What a plan is for. A plan holds only for the same model, inputs, kernels and environment.
struct PlanSubject {
  std::string format;  // "onnx" or "gguf"
  std::string model;   // SHA-256 of the file
  std::map<std::string, Shape> inputs;
  std::map<std::string, std::string> given;  // inputs that are part of the plan: SHA-256 of each
  std::string device, environment_key;       // empty: the host
  std::string kernel_set;
  bool operator==(const PlanSubject&) const = default;
};

// Why single nodes of a plan are at high: `clvet diagnose` found that its outputs need them.
struct RaisedEvidence {
  std::vector<std::string> nodes;
  double target = 0;                // the largest relative error of an output that passes
  int chosen_on = 0, held_out = 0;  // inputs that are right: that they were chosen on, and others
  double low_ms = 0, ms = 0, high_ms = 0;  // measured: nothing raised, these nodes, all
  bool operator==(const RaisedEvidence&) const = default;
};

struct ExecutionPlan {
  PlanSubject subject;
  Combination combination;
  std::vector<PlanPhase> phases;
  std::vector<DeviceTensor> tensors;
  std::vector<int64_t> slot_bytes;
  std::vector<ConstantRecipe> constants;
  std::vector<Fallback> fallbacks;
  std::vector<RefusedCombination> refused;
  double bytes = 0;  // of weights that a token reads (language models)
  std::optional<RaisedEvidence> raised;
  double residual_scale = 1;  // language models: LlmConfig::residual_scale
  // Language models: the variant by which the device chooses the next token itself; empty: none.
  std::string next_token;
  bool operator==(const ExecutionPlan&) const = default;

  // What decides between plans: the time of a run, or of a token that is answered and one that is
  // read, since a text that goes on is about as long as its prompt.
  double ms() const;
  // Nodes of all phases that do not run on the host.
  int device_nodes() const;
};

// For each node of the phase the variant that makes its outputs; empty: none does.
std::vector<std::string> variants_of(const PlanPhase& phase);

}  // namespace clvet
