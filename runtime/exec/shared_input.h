// An input of a network in memory that host and device share: what its user writes there is not
// copied.
#pragma once

#include "base/result.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// The memory is the host's, from lend() on, or the device's, from hand_over() on. Each change is a
// map or an unmap of the whole buffer.
class SharedInput {
 public:
  // `type`: float32, whose values lie on the device as they do on the host. `device` must outlive
  // it.
  static Result<SharedInput> create(Device& device, TensorType type);
  SharedInput(SharedInput&&) noexcept = default;
  SharedInput& operator=(SharedInput&&) = delete;
  ~SharedInput();

  cl_mem object() const { return object_.get(); }
  // Somebody has the memory, and may rely on what is there.
  bool is_held() const { return !memory_.sole(); }
  bool is(const Tensor& value) const { return value.raw() == memory_.raw(); }
  // The memory as a tensor, for its user to write. It lives as long as anybody has the tensor.
  Result<Tensor> lend();
  // What the device is to read is there: `value` itself where that is the memory, else a copy.
  // Nothing is done where nobody could have changed it.
  Status hand_over(const Tensor& value);

 private:
  explicit SharedInput(Device& device) : device_(&device) {}
  Status take();  // from the device

  Device* device_;
  Tensor memory_;  // goes after the buffer over it
  ClMem object_;
  void* mapped_ = nullptr;
};

}  // namespace clvet
