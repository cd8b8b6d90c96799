#include "probe/trial/material.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernels/act_table.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "kernels/op_trials.h"
#include "probe/trial/cases.h"
#include "probe/trial/request.h"

namespace clvet {
namespace {

constexpr uint64_t kGuardBytes = 4096;  // at least the alignment of any sub-buffer seen
constexpr int64_t kGuardTexels = 1;
static_assert(kGuardBytes >= kBufferSlack);
// What lies around an input: NaN in every float type, so that reading it shows even where a weight
// of zero ought to hide it.
constexpr std::byte kInputGuard{0xFF};

// Reproducible on every machine: the engine is fixed by the standard, the scaling is ours.
class Generator {
 public:
  explicit Generator(const std::string& seed)
      : engine_(std::stoull(sha256_hex(seed).substr(0, 16), nullptr, 16)) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

 private:
  std::mt19937_64 engine_;
};

int64_t dim(const TestShape& shape, const char* name) {
  const auto found = shape.dims.find(name);
  return found == shape.dims.end() ? -1 : found->second;
}

// Where an op is defined: as its own file says, else no root of a negative number.
InputDomain domain_of(const Manifest& manifest, const TestShape& shape, const TensorRole& role) {
  const InputDomain* stated = find_domain(manifest.domains, role.name, shape.dims);
  if (stated) return *stated;
  InputDomain domain;
  if (role.kind == TensorKind::kWeights || role.kind == TensorKind::kVector) domain.edges = false;
  const ActRow& act = act_row(static_cast<Act>(dim(shape, "act")));
  if (act.not_negative) domain.low = 0, domain.edges = false;
  if (const auto found = shape.scalars.find("magnitude");
      found != shape.scalars.end() && role.kind == TensorKind::kInput) {
    domain.low = -found->second, domain.high = found->second;
  }
  return domain;
}

// The ties lie halfway between two halves, and halfway between two floats.
constexpr std::array kEdges{0.0,         -0.0,           0x1p-24,     -0x1p-24, 0x1.8p-15,
                            1 + 0x1p-11, -1 - 0x1.8p-10, 1 + 0x1p-24, 3.0};
constexpr size_t kEdgeStride = 23;
// A subnormal float, once in a tensor: a processor takes some 150 cycles for each product with one.
// One of 230 values made timed products take two to four times as long as those of a network.
constexpr double kSubnormal = 0x1p-130;
constexpr size_t kSubnormalAt = 8 * kEdgeStride + 1;
// What a wrong minimum or maximum drops.
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kSpecials{kNan, kInfinity, kNan, -kInfinity};
constexpr size_t kSpecialStride = 11;

Values generate(Generator& random, const InputDomain& domain, int64_t count) {
  Values values(static_cast<size_t>(count));
  for (double& value : values) value = random.uniform(domain.low, domain.high);
  if (!domain.edges) return values;
  for (size_t i = 0, edge = 0; i < values.size(); i += kEdgeStride, ++edge) {
    values[i] = kEdges[edge % kEdges.size()];
  }
  if (values.size() > kSubnormalAt) values[kSubnormalAt] = kSubnormal;
  if (domain.largest_half && values.size() > 2) values[1] = 65504, values[2] = -65504;
  return values;
}

// From a place of the tensor's own on, so that those of two operands meet ordinary numbers, too.
void put_specials(Generator& random, Values& values) {
  const double first = random.uniform(0, static_cast<double>(kSpecialStride));
  for (size_t i = static_cast<size_t>(first), at = 0; i < values.size(); i += kSpecialStride) {
    values[i] = kSpecials[at++ % kSpecials.size()];
  }
}

// Row numbers from beyond one end of `extent` rows to beyond the other.
Values generate_indices(Generator& random, const TensorRole& role) {
  const auto extent = static_cast<double>(role.extent);
  const std::array edges{-1.0, -extent, -extent - 1, extent - 1, extent, -0x1p31, 0x1p31 - 1};
  Values values(static_cast<size_t>(role.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 3 == 1 ? edges[i / 3 % edges.size()]
                           : std::floor(random.uniform(-1.25 * extent, 1.25 * extent));
  }
  return values;
}

// What the device sees of `values` once stored.
Values as_stored(const TensorRole& role, const TrialCase& trial, const Values& values) {
  const Precision precision = trial.variant.precision;
  switch (role.kind) {
    case TensorKind::kInput:
    case TensorKind::kOutput:
      return decode_activation(role, precision, encode_activation(role, precision, values),
                               nullptr);
    case TensorKind::kWeights:
      return effective_weights(role, precision,
                               trial.variant.weight_type.value_or(WeightType::kFloat), values);
    case TensorKind::kIndices:
    case TensorKind::kState:
      return values;
    case TensorKind::kVector:
      break;
  }
  Values rounded = values;
  for (double& value : rounded) value = static_cast<float>(value);
  return rounded;
}

std::shared_ptr<const CallValues> generate_inputs(const TrialCase& trial,
                                                  const std::vector<TensorRole>& roles) {
  const std::string& op = trial.variant.manifest->op;
  auto inputs = std::make_shared<CallValues>();
  inputs->dims = trial.shape->dims;
  inputs->scalars = trial.shape->scalars;
  for (const TensorRole& role : roles) {
    if (role.kind == TensorKind::kOutput) continue;
    Generator random(op + "/" + trial.shape->name + "/" + role.name);
    const InputDomain domain = domain_of(*trial.variant.manifest, *trial.shape, role);
    Values& values = inputs->tensors[role.name];
    if (role.kind == TensorKind::kState) {
      values.assign(static_cast<size_t>(role.c), 0);
      continue;
    }
    values = role.kind == TensorKind::kIndices ? generate_indices(random, role)
                                               : generate(random, domain, role.elements());
    const bool special = trial.shape->scalars.contains("specials");
    if (special && role.kind == TensorKind::kInput) put_specials(random, values);
  }
  return inputs;
}

TexelType texel_of(const TrialCase& trial, bool weights) {
  const auto type = trial.variant.weight_type.value_or(WeightType::kFloat);
  if (weights && type != WeightType::kFloat) {
    const auto& words = trial.variant.manifest->constructs;
    const bool wide = std::find(words.begin(), words.end(), "image_int32_weights") != words.end();
    return wide ? TexelType::kInt32 : TexelType::kUint16;
  }
  return stores_half(trial.variant.precision) ? TexelType::kHalf : TexelType::kFloat;
}

void add_guards(MemoryRequest& memory) {
  memory.guard = memory.image ? 0 : kGuardBytes;
  memory.guard_texels = memory.image ? kGuardTexels : 0;
}

// An input's bytes with its guards.
Bytes with_guards(const MemoryRequest& memory, const Bytes& tensor) {
  const auto texel = static_cast<ptrdiff_t>(texel_bytes(memory.texel));
  const ptrdiff_t rows = memory.image ? memory.height : 1;
  const auto row = static_cast<ptrdiff_t>(tensor.size()) / std::max<ptrdiff_t>(rows, 1);
  const ptrdiff_t beside = memory.guard_texels * texel;
  Bytes bytes;
  bytes.reserve(memory.read_bytes());
  bytes.resize(memory.guard, kInputGuard);
  for (ptrdiff_t y = 0; y < rows; ++y) {
    bytes.insert(bytes.end(), tensor.begin() + y * row, tensor.begin() + (y + 1) * row);
    bytes.resize(bytes.size() + static_cast<size_t>(beside), kInputGuard);
  }
  bytes.resize(memory.read_bytes(), kInputGuard);
  return bytes;
}

// A model reads all its other weights before it reads the same ones again: so large ones come from
// memory, though a cache may hold one layer's (50 MiB of an NVIDIA H100). How many weights there
// are decides, so that a shape is timed alike in every type and storage.
int copies_beyond_caches(int64_t weights, size_t bytes) {
  constexpr int64_t kLarge = int64_t{4} << 20;
  constexpr size_t kBeyondCaches = size_t{160} << 20;
  return weights < kLarge ? 1 : static_cast<int>(1 + kBeyondCaches / std::max<size_t>(bytes, 1));
}

Result<UniqueFd> make_output(const MemoryRequest& memory, const TrialRequest& request) {
  return make_memfd("clvet-output",
                    memory.read_bytes() * static_cast<uint64_t>(request.readings()));
}

// Adds one memory object and, for an input, the sealed bytes of its content.
class Builder {
 public:
  Builder(const TrialCase& trial, const Material& material, PreparedTrial& out)
      : trial_(trial), material_(material), out_(out) {}

  Status add(const CallArg& arg) {
    const TensorRole* role = role_of(material_.roles, arg);
    if (!role) return fail(ErrorCode::kInternal, "{}: no tensor '{}'", trial_.id, arg.name);
    switch (arg.kind) {
      case ArgKind::kInput:
        return add_input(*role, arg);
      case ArgKind::kOutput:
        return add_output(*role, arg);
      case ArgKind::kWeights:
        return add_weights(*role, arg);
      case ArgKind::kScales:
        return add_bytes({}, weights_of(*role).scales);
      case ArgKind::kIndices:
      case ArgKind::kState: {
        const Values& values = values_of(*role);
        return add_bytes({}, encode_indices(std::vector<int64_t>(values.begin(), values.end())));
      }
      default:
        return add_bytes({}, encode_vector(*role, values_of(*role)));
    }
  }

 private:
  const Values& values_of(const TensorRole& role) const {
    return material_.inputs->tensors.find(role.name)->second;
  }

  PackedWeights weights_of(const TensorRole& role) const {
    return pack_weights(role, trial_.variant.precision, *trial_.variant.weight_type,
                        *trial_.variant.weights, trial_.variant.manifest->pack, values_of(role));
  }

  Status add_bytes(MemoryRequest memory, const Bytes& tensor) {
    memory.bytes = tensor.size();
    add_guards(memory);
    const Bytes bytes = with_guards(memory, tensor);
    memory.fd = static_cast<int>(out_.fds.size());
    CLVET_ASSIGN_OR_RETURN(UniqueFd fd, make_sealed_memfd("clvet-input", bytes));
    out_.fds.push_back(std::move(fd));
    out_.request.memory.push_back(memory);
    return {};
  }

  MemoryRequest shaped(const CallArg& arg, const ImageExtent& extent, bool weights) const {
    MemoryRequest memory;
    memory.image = arg.storage == Storage::kImage;
    memory.width = extent.width;
    memory.height = extent.height;
    memory.texel = texel_of(trial_, weights);
    return memory;
  }

  Status add_input(const TensorRole& role, const CallArg& arg) {
    return add_bytes(shaped(arg, activation_extent(role), false),
                     encode_activation(role, trial_.variant.precision, values_of(role)));
  }

  Status add_weights(const TensorRole& role, const CallArg& arg) {
    const PackedWeights packed = weights_of(role);
    MemoryRequest memory = shaped(arg, packed.image, true);
    // The same bytes in wider texels make shorter lines.
    const auto line = static_cast<uint64_t>(packed.data.size()) /
                      static_cast<uint64_t>(std::max<int64_t>(packed.image.height, 1));
    memory.width = static_cast<int64_t>(line / texel_bytes(memory.texel));
    const bool timed = trial_.timed || out_.request.slot >= 0;
    if (timed) memory.copies = copies_beyond_caches(role.elements(), packed.data.size());
    return add_bytes(memory, packed.data);
  }

  Status add_output(const TensorRole& role, const CallArg& arg) {
    MemoryRequest memory = shaped(arg, activation_extent(role), false);
    memory.use = MemoryUse::kOut;
    memory.bytes = activation_bytes(role, trial_.variant.precision);
    add_guards(memory);
    memory.fd = static_cast<int>(out_.fds.size());
    out_.outputs.push_back(out_.request.memory.size());
    CLVET_ASSIGN_OR_RETURN(UniqueFd fd, make_output(memory, out_.request));
    out_.fds.push_back(std::move(fd));
    out_.request.memory.push_back(memory);
    return {};
  }

  const TrialCase& trial_;
  const Material& material_;
  PreparedTrial& out_;
};

Result<std::shared_ptr<const Material>> make(const TrialCase& trial,
                                             std::shared_ptr<const CallValues>& inputs) {
  const Manifest& manifest = *trial.variant.manifest;
  const OpContract* contract = find_op_contract(manifest.op);
  if (!contract) return fail(ErrorCode::kInternal, "the op {} has no contract", manifest.op);
  auto material = std::make_shared<Material>();
  CLVET_ASSIGN_OR_RETURN(material->roles, contract->roles(trial.shape->dims));
  if (!inputs) inputs = generate_inputs(trial, material->roles);
  material->inputs = inputs;
  CallValues stored{inputs->dims, inputs->scalars, {}};
  for (const TensorRole& role : material->roles) {
    if (role.kind == TensorKind::kOutput) continue;
    stored.tensors[role.name] = as_stored(role, trial, inputs->tensors.find(role.name)->second);
  }
  material->reference = contract->reference(stored);
  return std::shared_ptr<const Material>(std::move(material));
}

// All but its memory and arguments.
TrialRequest request_of(const TrialCase& trial, const KernelCall& call) {
  constexpr double kTimingSeconds = 0.005;
  TrialRequest request;
  request.program = *trial.program;
  request.work_dim = call.work_dim;
  request.global = call.global;
  request.local = call.local;
  request.timing_seconds = trial.timed ? kTimingSeconds : 0;
  return request;
}

size_t bytes_of(const Values& values) { return values.size() * sizeof(double); }

size_t bytes_of(const CallValues& inputs) {
  size_t bytes = 0;
  for (const auto& [name, values] : inputs.tensors) bytes += bytes_of(values);
  return bytes;
}

size_t bytes_of(const ReferenceResult& reference) {
  return bytes_of(reference.value) + bytes_of(reference.sum_squares) +
         bytes_of(reference.sensitivity) + bytes_of(reference.functions);
}

double flops_of(const ReferenceResult& reference) {
  if (reference.reduction <= 1) return 0;
  const double products =
      reference.products > 0 ? reference.products : static_cast<double>(reference.reduction);
  return 2 * products * static_cast<double>(reference.value.size());
}

}  // namespace

std::shared_ptr<MaterialStore::OfShape> MaterialStore::shape_of(const TrialCase& trial) {
  const std::string& op = trial.variant.manifest->op;
  const std::lock_guard lock(mutex_);
  if (op == earlier_) std::swap(latest_, earlier_);
  if (op != latest_) earlier_ = std::exchange(latest_, op);
  auto& shape = shapes_[{op, trial.shape->name, trial.shape->dims, trial.shape->scalars}];
  if (!shape) shape = std::make_shared<OfShape>();
  shape->last_use = ++uses_;
  return shape;
}

void MaterialStore::make_room() {
  size_t bytes = 0;
  std::vector<decltype(shapes_)::iterator> others;
  for (auto it = shapes_.begin(); it != shapes_.end(); ++it) {
    bytes += it->second->bytes;
    const std::string& op = std::get<0>(it->first);
    if (op != latest_ && op != earlier_) others.push_back(it);
  }
  std::ranges::sort(others, {}, [](const auto& it) { return it->second->last_use; });
  for (const auto& it : others) {
    if (bytes <= most_) break;
    bytes -= it->second->bytes;
    shapes_.erase(it);
  }
}

void MaterialStore::count(OfShape& shape, size_t bytes) {
  const std::lock_guard lock(mutex_);
  shape.bytes += bytes;
  make_room();
}

Result<std::shared_ptr<const Material>> MaterialStore::get(const TrialCase& trial) {
  const std::shared_ptr<OfShape> shape = shape_of(trial);
  const std::lock_guard lock(shape->making);
  auto& made = shape->made[{stores_half(trial.variant.precision), trial.variant.weight_type}];
  if (made) return made;
  const bool had_inputs = shape->inputs != nullptr;
  CLVET_ASSIGN_OR_RETURN(made, make(trial, shape->inputs));
  count(*shape, bytes_of(made->reference) + (had_inputs ? 0 : bytes_of(*shape->inputs)));
  return made;
}

uint64_t PreparedTrial::bytes() const {
  uint64_t sum = 0;
  for (const MemoryRequest& memory : request.memory) {
    const bool out = memory.use == MemoryUse::kOut;
    sum += memory.read_bytes() * static_cast<uint64_t>(out ? request.readings() : 1);
  }
  return sum;
}

Status PreparedTrial::renew_outputs() {
  for (const size_t index : outputs) {
    const MemoryRequest& memory = request.memory[index];
    CLVET_ASSIGN_OR_RETURN(fds[static_cast<size_t>(memory.fd)], make_output(memory, request));
  }
  return {};
}

Result<PreparedTrial> prepare_trial(const TrialCase& trial, const Material& material, int slot) {
  CLVET_ASSIGN_OR_RETURN(KernelCall call,
                         make_call(trial.variant, trial.shape->dims, trial.shape->scalars));
  PreparedTrial prepared;
  TrialRequest& request = prepared.request;
  request = request_of(trial, call);
  request.slot = slot;
  Builder builder(trial, material, prepared);
  for (const CallArg& arg : call.args) {
    ArgRequest row;
    if (arg.kind == ArgKind::kInt) {
      row.int_value = arg.int_value;
    } else if (arg.kind == ArgKind::kFloat) {
      row.is_float = true;
      row.float_value = arg.float_value;
    } else if (arg.absent) {
      row.memory = ArgRequest::kNull;
    } else {
      row.memory = static_cast<int>(request.memory.size());
      CLVET_RETURN_IF_ERROR(builder.add(arg));
    }
    request.args.push_back(row);
  }
  prepared.flops = flops_of(material.reference);
  return prepared;
}

}  // namespace clvet
