#include "runtime/exec/shared_input.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/result.h"
#include "runtime/exec/device.h"
#include "runtime/graph/tensor.h"

namespace clvet {

Result<SharedInput> SharedInput::create(Device& device, TensorType type) {
  SharedInput input(device, std::move(type));
  const auto bytes =
      static_cast<size_t>(elements_of(input.type_.shape)) * size_of(input.type_.dtype);
  CLVET_ASSIGN_OR_RETURN(input.object_, device.buffer_over_host(bytes, input.memory_));
  return input;
}

SharedInput::~SharedInput() {
  if (mapped_ && object_) (void)device_->unmap(object_.get(), mapped_);
}

Status SharedInput::take() {
  if (mapped_) return {};
  const auto bytes = static_cast<size_t>(elements_of(type_.shape)) * size_of(type_.dtype);
  CLVET_ASSIGN_OR_RETURN(mapped_, device_->map_for_writing(object_.get(), bytes));
  if (mapped_ == memory_.get()) return {};
  return fail(ErrorCode::kDeviceError, "a buffer over host memory was mapped at another address");
}

Result<Tensor> SharedInput::lend() {
  CLVET_RETURN_IF_ERROR(take());
  return Tensor::wrap(type_.dtype, type_.shape, memory_);
}

Status SharedInput::hand_over(const Tensor& value) {
  if (!is(value)) {
    CLVET_RETURN_IF_ERROR(take());
    if (value.bytes() > 0) std::memcpy(memory_.get(), value.raw(), value.bytes());
  }
  if (!mapped_) return {};
  return device_->unmap(object_.get(), std::exchange(mapped_, nullptr));
}

}  // namespace clvet
