#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "clvet/result.h"
#include "clvet/tensor.h"
#include "runtime/api/slots.h"
#include "runtime/graph/tensor.h"

namespace clvet::v1 {

static_assert(static_cast<int>(DataType::boolean) == static_cast<int>(DType::kBool) &&
              static_cast<int>(DataType::bf16) == static_cast<int>(DType::kBF16) &&
              static_cast<int>(DataType::f32) == static_cast<int>(DType::kF32));

const char* to_string(DataType type) { return ::clvet::to_string(static_cast<DType>(type)); }
size_t size_of(DataType type) { return ::clvet::size_of(static_cast<DType>(type)); }

struct Mapping::State {
  std::weak_ptr<Slots> slots;
  Slots::Mapped mapped;
  Access access = Access::read;
  bool ended = false;
};

Mapping::Mapping(std::unique_ptr<State> state) : state_(std::move(state)) {}
Mapping::Mapping(Mapping&&) noexcept = default;

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  static_cast<void>(unmap());
  state_ = std::move(other.state_);
  return *this;
}

Mapping::~Mapping() { static_cast<void>(unmap()); }

Result<Mapping> Mapping::of(const std::shared_ptr<Slots>& slots, const std::string& name,
                            Access access) {
  Result<Slots::Mapped> mapped = slots->map(name, access);
  if (!mapped) return mapped.error();
  return Mapping(std::make_unique<State>(State{slots, std::move(*mapped), access}));
}

const TensorInfo& Mapping::info() const {
  static const TensorInfo nothing;
  return state_ ? state_->mapped.info : nothing;
}

Access Mapping::access() const { return state_ ? state_->access : Access::read; }
int64_t Mapping::elements() const { return state_ ? state_->mapped.values.elements() : 0; }

Status Mapping::unmap() {
  if (!state_) return Error{ErrorCode::stale, "this mapping was moved from"};
  const std::string& name = state_->mapped.info.name;
  if (std::exchange(state_->ended, true))
    return Error{ErrorCode::stale, fmt::format("'{}' was unmapped already", name)};
  const auto slots = state_->slots.lock();
  if (!slots)
    return Error{ErrorCode::stale, fmt::format("the session of the mapping of '{}' is gone", name)};
  return slots->unmap(name, state_->access, state_->mapped.generation);
}

Result<std::span<std::byte>> Mapping::view(DataType type, bool writes) const {
  if (!state_) return Error{ErrorCode::stale, "this mapping was moved from"};
  const TensorInfo& info = state_->mapped.info;
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return Error{code, fmt::format("no view of '{}': {}", info.name, why)};
  };
  if (state_->ended) return refuse(ErrorCode::stale, "it was unmapped");
  if (type != info.type)
    return refuse(ErrorCode::invalid_argument,
                  fmt::format("it holds {}, not {}", to_string(info.type), to_string(type)));
  if (writes && state_->access == Access::read)
    return refuse(ErrorCode::invalid_argument, "it is mapped for reading: ask for const values");
  if (writes) {
    const auto slots = state_->slots.lock();
    if (!slots) return refuse(ErrorCode::stale, "its session is gone");
    if (!slots->is_current(info.name, state_->mapped.generation))
      return refuse(ErrorCode::stale, "the session was resized; map it again");
  }
  return std::span(state_->mapped.values.raw(), state_->mapped.values.bytes());
}

Status Mapping::has_shape(const Shape& shape) const {
  if (!state_ || shape == state_->mapped.info.shape) return {};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("'{}' has the shape {}, not {}", state_->mapped.info.name,
                  ::clvet::to_string(state_->mapped.info.shape), ::clvet::to_string(shape))};
}

}  // namespace clvet::v1
