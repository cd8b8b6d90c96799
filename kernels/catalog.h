// The kernel manifests (kernels/ops/<family>/<name>.json) as typed rows, and the variants they
// span.
//
// A manifest is read by the planner, the trials, the lint and the report alike; nothing about a
// kernel is stated anywhere else. What all kernels of an op are tried on belongs to the op
// (kernels/op_trials.h); a manifest's row holds what of it concerns this kernel.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/contract.h"

namespace clvet {

enum class ArgKind {
  kInput,    // activation tensor, by role name
  kOutput,   // activation tensor, by role name
  kWeights,  // a packed weight matrix, by role name
  kScales,   // scales and offsets of quantised weights, by the role name of these; absent for float
             // weights
  kVector,   // float32 vector, by role name
  kIndices,  // int32 vector, by role name
  kState,    // int32 words that launches share, by role name
  kInt,      // 32-bit signed integer: an expression over dims and params
  kFloat,    // 32-bit float: a name in scalars
};

struct ArgSpec {
  ArgKind kind = ArgKind::kInt;
  std::string name;  // role name, expression or scalar name
  // Tensors: where this one lies, when that differs from the variant's storage (copies between the
  // two). In a manifest: "in:x@buffer".
  std::optional<Storage> storage;
  // A buffer that the kernel reads only where this expression is not zero ("in:r?add"); else it
  // gets a null pointer, which costs a launch less. Empty: always.
  std::string where;
};

// Dims and scalars of one trial case.
struct TestShape {
  std::string name;
  Dims dims;
  Scalars scalars;
};

// What a trial fills a tensor of an op with.
struct InputDomain {
  std::string tensor;  // role name; empty: each that is not an output
  std::string where;   // expression over dims that must be non-zero
  double low = -1, high = 1;
  bool edges = true;          // signed zero, subnormals, ties
  bool largest_half = false;  // +-65504
};

// A row of a manifest. `require` holds names of DeviceFeatures (probe/report/device_features.h).
struct Manifest {
  std::string id;      // "gemm_tile4x4": file stem, unique
  std::string op;      // contract name; `id` begins with it
  std::string family;  // folder below kernels/ops
  std::string text;    // file stem of the .cl in that folder, and the kernel's entry point: the id,
                       // where the manifest names none
  std::vector<std::string> preludes;  // files of kernels/common, in order
  std::vector<Precision> precisions;
  std::vector<Storage> activations;
  std::vector<Storage> weights;           // empty: the op has no weights
  std::vector<WeightType> weight_types;   // empty: the op has no weights
  std::map<std::string, int64_t> params;  // -D name=value, usable in expressions
  std::vector<std::string> where;  // expressions over dims and params that must all be non-zero
  int64_t pack =
      0;  // weights: columns of one panel in buffer storage (see layout.h); 0 = one panel
  std::vector<ArgSpec> args;
  std::vector<std::string> global;  // expressions, 1 to 3
  std::vector<std::string> local;   // expressions; empty lets the driver choose
  std::vector<std::string>
      require;  // device features, e.g. "subgroups"; empty for the fallback variant
  std::map<std::string, int> rank;      // device class ("cpu", "gpu") -> preference, higher first
  std::vector<std::string> constructs;  // beyond those that follow from precision and storage
  int64_t local_bytes = 0;              // local memory of a work-group; 0: little, or none
  int64_t at_once = 0;                  // groups that wait for each other, each on a compute unit
  std::vector<std::string>
      core;  // device classes on which the core tier tries it beside the op's first choice
  bool trial_only = false;  // never planned; tried because other engines use its constructs
  bool full_tier = false;  // tried in the full tier or where a model needs it, not in the core tier
  std::vector<TestShape> tests;      // the op's that it takes, then its own
  std::vector<std::string> timed;    // names of tests; empty: see timed_shapes() of the probe
  std::vector<InputDomain> domains;  // the op's; the first that holds counts
};

// One compiled program: a manifest row under one combination.
struct Variant {
  const Manifest* manifest = nullptr;
  Precision precision = Precision::kHigh;
  Storage activations = Storage::kBuffer;
  std::optional<Storage> weights;
  std::optional<WeightType> weight_type;

  // The combination that this variant serves: memory is low exactly for quantised weights.
  Combination combination() const;
  // "gemm_tile4x4/high/normal/buffer/buffer/float"
  std::string name() const;
};

// A text that programs share.
using Source = std::shared_ptr<const std::string>;

// What a driver is given to compile.
struct Program {
  std::vector<Source> sources;  // preludes, then the kernel's own text after `#line 1`
  std::string options;          // -D and build flags
  std::string entry;
  std::string key;  // SHA-256 of sources, options and entry: variants that share it share a build
  std::string variant_key;              // SHA-256 of key and variant name: what evidence is about
  std::vector<std::string> constructs;  // sorted; words: docs/interfaces.md
};

class Catalog {
 public:
  // The embedded catalog; kInternal if an embedded manifest is malformed (a build error of ours).
  static Result<Catalog> embedded();
  // Parses manifests and what ops are tried on, given as (path relative to kernels/, text); used by
  // embedded() and by tests.
  static Result<Catalog> parse(const std::vector<std::pair<std::string, std::string>>& files);

  const std::vector<Manifest>& manifests() const { return manifests_; }
  std::vector<const Manifest*> for_op(std::string_view op) const;
  const Manifest* find(std::string_view id) const;

 private:
  std::vector<Manifest> manifests_;
};

// Every variant of a manifest: the product of its precisions, storages and weight types.
std::vector<Variant> variants_of(const Manifest& manifest);
// Assembles sources, options, key and constructs. kInternal where a prelude is not embedded.
Result<Program> program_of(const Variant& variant);
// The kernel `entry` of checks/<text>.cl. kNotFound where there is no such text.
Result<Program> check_program(std::string_view text, std::string_view entry);
// The embedded text of `path` relative to kernels/, e.g. "checks/canary.cl"; kNotFound.
Result<std::string> kernel_text(std::string_view path);
// SHA-256 over every embedded kernel file: the `kernel_set` of a report.
std::string kernel_set();

}  // namespace clvet
