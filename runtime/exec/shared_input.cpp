#include "runtime/exec/shared_input.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "base/result.h"
#include "runtime/exec/device.h"
#include "runtime/graph/tensor.h"

namespace clvet {

Result<SharedInput> SharedInput::create(Device& device, TensorType type) {
  SharedInput input(device);
  const size_t bytes = static_cast<size_t>(elements_of(type.shape)) * size_of(type.dtype);
  std::shared_ptr<std::byte> memory;
  CLVET_ASSIGN_OR_RETURN(input.object_, device.buffer_over_host(bytes, memory));
  input.memory_ = Tensor::wrap(type.dtype, std::move(type.shape), std::move(memory));
  return input;
}

SharedInput::~SharedInput() {
  if (mapped_ && object_) (void)device_->unmap(object_.get(), mapped_);
}

Status SharedInput::take() {
  if (mapped_) return {};
  CLVET_ASSIGN_OR_RETURN(mapped_, device_->map_for_writing(object_.get(), memory_.bytes()));
  if (mapped_ == memory_.raw()) return {};
  return fail(ErrorCode::kDeviceError, "a buffer over host memory was mapped at another address");
}

Result<Tensor> SharedInput::lend() {
  CLVET_RETURN_IF_ERROR(take());
  return memory_;
}

Status SharedInput::hand_over(const Tensor& value) {
  if (!is(value)) {
    CLVET_RETURN_IF_ERROR(take());
    if (value.bytes() > 0) std::memcpy(memory_.raw(), value.raw(), value.bytes());
  }
  if (!mapped_) return {};
  return device_->unmap(object_.get(), std::exchange(mapped_, nullptr));
}

}  // namespace clvet
