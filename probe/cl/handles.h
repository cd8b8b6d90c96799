// One owner for each OpenCL object: move-only, two words, no policy.
#pragma once

#include <utility>

#include "probe/cl/api.h"

namespace clvet {

template <class T, auto Release>
class ClHandle {
 public:
  ClHandle() = default;
  ClHandle(const ClApi& api, T object) : api_(&api), object_(object) {}
  ClHandle(ClHandle&& other) noexcept
      : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  ClHandle& operator=(ClHandle&& other) noexcept {
    if (this != &other) {
      reset();
      api_ = other.api_;
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ~ClHandle() { reset(); }
  T get() const { return object_; }
  const T* address() const { return &object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    if (object_) (api_->*Release)(std::exchange(object_, nullptr));
  }

 private:
  const ClApi* api_ = nullptr;
  T object_ = nullptr;
};

using ClContext = ClHandle<cl_context, &ClApi::clReleaseContext>;
using ClQueue = ClHandle<cl_command_queue, &ClApi::clReleaseCommandQueue>;
using ClMem = ClHandle<cl_mem, &ClApi::clReleaseMemObject>;
using ClProgram = ClHandle<cl_program, &ClApi::clReleaseProgram>;
using ClKernel = ClHandle<cl_kernel, &ClApi::clReleaseKernel>;
using ClEvent = ClHandle<cl_event, &ClApi::clReleaseEvent>;

}  // namespace clvet
