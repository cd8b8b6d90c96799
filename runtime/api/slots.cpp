#include "runtime/api/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "clvet/result.h"
#include "clvet/tensor.h"
#include "runtime/api/guarded.h"
#include "runtime/graph/tensor.h"

namespace clvet::v1 {
namespace {

bool is_open(const Shape& shape) {
  return std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; });
}

DType dtype_of(DataType type) { return static_cast<DType>(type); }

// A type that a caller gave may be no type at all.
std::string name_of(DataType type) {
  const auto number = static_cast<int>(type);
  return number >= 0 && number < kDTypeCount ? to_string(type) : fmt::format("type {}", number);
}

// A bool of another value is none to a C++ program.
bool holds_bools(const ::clvet::Tensor& values) {
  if (values.dtype() != DType::kBool) return true;
  const std::byte* first = values.raw();
  return std::all_of(first, first + values.bytes(),
                     [](std::byte one) { return one <= std::byte{1}; });
}

}  // namespace

Slots::Slots(std::vector<TensorInfo> inputs, std::vector<TensorInfo> outputs, Lend lend)
    : lend_(std::move(lend)) {
  for (TensorInfo& info : inputs) slots_.push_back({.info = std::move(info), .is_input = true});
  for (TensorInfo& info : outputs) slots_.push_back({.info = std::move(info)});
  for (const Slot& slot : slots_) declared_.push_back(slot.info);
}

std::vector<TensorInfo> Slots::infos(bool inputs) const {
  const std::lock_guard lock(mutex_);
  std::vector<TensorInfo> found;
  for (const Slot& slot : slots_)
    if (slot.is_input == inputs) found.push_back(slot.info);
  return found;
}

uint64_t Slots::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

// Of an input and an output of one name, the input: it is the one that can be written.
const Slots::Slot* Slots::find(const std::string& name) const {
  const auto slot =
      std::ranges::find_if(slots_, [&](const Slot& one) { return one.info.name == name; });
  return slot == slots_.end() ? nullptr : &*slot;
}

Slots::Slot* Slots::find(const std::string& name) {
  return const_cast<Slot*>(std::as_const(*this).find(name));
}

bool Slots::is_current(const std::string& name, uint64_t generation) const {
  const std::lock_guard lock(mutex_);
  return find(name)->generation == generation;
}

std::string Slots::names(bool inputs) const {
  std::string all;
  for (const Slot& slot : slots_) {
    if (inputs && !slot.is_input) continue;
    all += (all.empty() ? "'" : ", '") + slot.info.name + "'";
  }
  return all;
}

Status Slots::check_free(const char* what) const {
  if (running_) return Error{ErrorCode::busy, fmt::format("a run is in flight: {} after it", what)};
  return {};
}

Status Slots::check_shape(const Slot& slot, const Shape& shape) const {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("'{}' cannot have the shape {}: {}", slot.info.name,
                             ::clvet::to_string(shape), why)};
  };
  if (is_open(shape)) return refuse("each axis needs 0 or more elements");
  if (const auto count = checked_elements(shape); !count) return refuse(count.error().message);
  const Shape& allowed = declared(slot).shape;
  if (shape.size() != allowed.size())
    return refuse(fmt::format("the model wants {} axes", allowed.size()));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (allowed[axis] >= 0 && allowed[axis] != shape[axis])
      return refuse(fmt::format("the model wants {}", ::clvet::to_string(allowed)));
  }
  return {};
}

Result<Slots::Slot*> Slots::find_input(const std::string& name) {
  Slot* slot = find(name);
  if (slot && slot->is_input) return slot;
  return Error{ErrorCode::invalid_argument, fmt::format("the model has no input '{}': it has {}",
                                                        clean_utf8(name), names(true))};
}

const TensorInfo& Slots::declared(const Slot& slot) const {
  return declared_[static_cast<size_t>(&slot - slots_.data())];
}

void Slots::end_mappings(Slot& slot) {
  slot.has_values = slot.is_written = slot.is_lent = slot.is_shared = false;
  slot.readers = 0;
  slot.values = {};
  ++slot.generation;
  if (!slot.is_input) slot.info = declared(slot);
}

Status Slots::resize(const std::map<std::string, Shape>& shapes) {
  const std::lock_guard lock(mutex_);
  if (const Status free = check_free("resize"); !free) return free;
  for (const auto& [name, shape] : shapes) {
    const Result<Slot*> slot = find_input(name);
    if (!slot) return slot.error();
    if (const Status fits = check_shape(**slot, shape); !fits) return fits;
  }
  for (const auto& [name, shape] : shapes) find(name)->info.shape = shape;
  for (Slot& slot : slots_) end_mappings(slot);
  ++generation_;
  return {};
}

Status Slots::check_values(const Slot& slot, const Values& values) const {
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return Error{code, fmt::format("'{}' cannot be set: {}", slot.info.name, why)};
  };
  if (slot.is_written)
    return refuse(ErrorCode::busy, "it is mapped for writing; drop that mapping first");
  if (values.type != slot.info.type)
    return refuse(
        ErrorCode::invalid_argument,
        fmt::format("it holds {}, not {}", to_string(slot.info.type), name_of(values.type)));
  if (const Status fits = check_shape(slot, values.shape); !fits) return fits;
  if (!values.data && elements_of(values.shape) > 0)
    return refuse(ErrorCode::invalid_argument, "the values are null");
  if (reinterpret_cast<uintptr_t>(values.data.get()) % size_of(values.type) != 0)
    return refuse(ErrorCode::invalid_argument,
                  fmt::format("the values of {} bytes each do not lie at a multiple of that",
                              size_of(values.type)));
  return {};
}

Status Slots::set(const std::map<std::string, Values>& values) {
  const std::lock_guard lock(mutex_);
  if (const Status free = check_free("set values"); !free) return free;
  bool same_shapes = true;
  for (const auto& [name, given] : values) {
    const Result<Slot*> slot = find_input(name);
    if (!slot) return slot.error();
    if (const Status fits = check_values(**slot, given); !fits) return fits;
    same_shapes = same_shapes && (*slot)->info.shape == given.shape;
  }
  for (const auto& [name, given] : values) {
    Slot& slot = *find(name);
    if (slot.info.shape != given.shape) end_mappings(slot);
    slot.info.shape = given.shape;
    const auto bytes = std::static_pointer_cast<const std::byte>(given.data);
    slot.values = ::clvet::Tensor::wrap(dtype_of(given.type), given.shape,
                                        std::const_pointer_cast<std::byte>(bytes));
    slot.has_values = slot.is_lent = true;
    slot.is_shared = false;
  }
  if (same_shapes) return {};
  for (Slot& slot : slots_)
    if (!slot.is_input) end_mappings(slot);
  ++generation_;
  return {};
}

// Memory of its own that holds its values, the device's if it has such and nobody else looks at it.
Status Slots::prepare_writing(Slot& slot) const {
  constexpr int kLenderAndHere = 2;
  const bool has_memory = slot.has_values && !slot.is_lent && slot.values.holders() == 1;
  std::optional<::clvet::Tensor> shared = lend_(slot.info.name);
  const TensorType type{dtype_of(slot.info.type), slot.info.shape};
  if (shared && slot.is_shared && shared->raw() == slot.values.raw()) return {};
  if (shared && (shared->type() != type || shared->holders() > kLenderAndHere)) shared.reset();
  if (has_memory && !shared) return {};
  auto memory = shared ? ::clvet::Result<::clvet::Tensor>(*shared)
                       : ::clvet::Tensor::create(type.dtype, type.shape);
  if (!memory) return public_error(memory.error());
  if (slot.has_values && memory->bytes() > 0)
    std::memcpy(memory->raw(), slot.values.raw(), memory->bytes());
  slot.values = std::move(*memory);
  slot.is_shared = shared.has_value();
  slot.is_lent = false;
  return {};
}

Result<Slots::Mapped> Slots::map(const std::string& name, Access access) {
  const std::lock_guard lock(mutex_);
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return Error{code, fmt::format("'{}' cannot be mapped: {}", clean_utf8(name), why)};
  };
  Slot* slot = find(name);
  if (!slot) return refuse(ErrorCode::invalid_argument, "the model has " + names(false) + " alone");
  const bool writes = access == Access::write;
  if (writes && !slot->is_input)
    return refuse(ErrorCode::invalid_argument, "outputs are for reading");
  if (running_) return refuse(ErrorCode::busy, "a run is in flight; wait for its end");
  if (slot->is_written)
    return refuse(ErrorCode::busy, "it is mapped for writing; drop that mapping first");
  if (writes && slot->readers > 0)
    return refuse(ErrorCode::busy, "it is mapped for reading; drop these mappings first");
  if (!slot->is_input && !slot->has_values)
    return refuse(ErrorCode::unavailable, "it has no values before the first run");
  if (is_open(slot->info.shape))
    return refuse(ErrorCode::invalid_argument,
                  fmt::format("its shape {} is open; set it with resize()",
                              ::clvet::to_string(slot->info.shape)));
  if (!writes && !slot->has_values)
    return refuse(ErrorCode::unavailable, "it has no values yet; map it for writing first");
  if (writes) {
    if (const Status ready = prepare_writing(*slot); !ready) return ready.error();
  }
  slot->is_written = writes;
  slot->has_values = true;
  if (!writes) ++slot->readers;
  return Mapped{slot->info, slot->values, slot->generation};
}

Status Slots::unmap(const std::string& name, Access access, uint64_t generation) {
  const std::lock_guard lock(mutex_);
  Slot* slot = find(name);
  if (generation != slot->generation)
    return Error{ErrorCode::stale, fmt::format("the mapping of '{}' ended with resize()", name)};
  if (access == Access::write) {
    slot->is_written = false;
  } else if (slot->readers > 0) {
    --slot->readers;
  }
  return {};
}

Result<::clvet::Tensor> Slots::values_of(const Slot& slot, bool with_zeros) const {
  const std::string& name = slot.info.name;
  if (slot.is_written)
    return Error{ErrorCode::busy,
                 fmt::format("'{}' is mapped for writing: drop the mapping, then run", name)};
  if (slot.has_values && !holds_bools(slot.values))
    return Error{ErrorCode::invalid_argument,
                 fmt::format("'{}' holds a byte that is no bool: each is 0 or 1", name)};
  if (slot.has_values) return slot.values;
  if (is_open(slot.info.shape))
    return Error{ErrorCode::invalid_argument,
                 fmt::format("the shape {} of '{}' is open; set it with resize()",
                             ::clvet::to_string(slot.info.shape), name)};
  if (!with_zeros)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("'{}' has no values yet: map it for writing", name)};
  auto zeros = ::clvet::Tensor::create(dtype_of(slot.info.type), slot.info.shape);
  if (!zeros) return public_error(zeros.error());
  return std::move(*zeros);
}

Result<std::map<std::string, ::clvet::Tensor>> Slots::begin_run(bool with_zeros) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, ::clvet::Tensor> inputs;
  for (const Slot& slot : slots_) {
    if (!slot.is_input) continue;
    Result<::clvet::Tensor> values = values_of(slot, with_zeros);
    if (!values) return values.error();
    inputs.emplace(slot.info.name, std::move(*values));
  }
  running_ = true;
  return inputs;
}

void Slots::end_run() {
  const std::lock_guard lock(mutex_);
  running_ = false;
}

bool Slots::lies_in_an_input(const ::clvet::Tensor& tensor) const {
  return tensor.bytes() > 0 && std::ranges::any_of(slots_, [&](const Slot& slot) {
           return slot.is_input && (slot.is_lent || slot.is_shared) &&
                  slot.values.raw() == tensor.raw();
         });
}

Status Slots::set_outputs(const std::map<std::string, ::clvet::Tensor>& outputs, bool has_values) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    const auto found = slot.is_input ? outputs.end() : outputs.find(slot.info.name);
    if (found == outputs.end()) continue;
    slot.info.shape = found->second.shape();
    slot.info.type = static_cast<DataType>(found->second.dtype());
    if (!has_values) continue;
    slot.values = found->second;
    if (lies_in_an_input(found->second)) {
      auto own = ::clvet::Tensor::create(found->second.dtype(), found->second.shape());
      if (!own) return public_error(own.error());
      std::memcpy(own->raw(), found->second.raw(), own->bytes());
      slot.values = std::move(*own);
    }
    slot.has_values = true;
  }
  return {};
}

}  // namespace clvet::v1
