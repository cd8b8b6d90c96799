#include "runtime/exec/buffer_map.h"

#include <cstddef>
#include <utility>

#include "base/result.h"
#include "probe/cl/api.h"
#include "runtime/exec/cl_status.h"

namespace clvet {

Result<BufferMap> BufferMap::of(const ClApi& api, cl_command_queue queue, cl_mem buffer,
                                size_t bytes, cl_map_flags flags) {
  cl_int code = CL_SUCCESS;
  void* data =
      api.clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, bytes, 0, nullptr, nullptr, &code);
  CLVET_RETURN_IF_ERROR(cl_status(code, "clEnqueueMapBuffer"));
  if (!data) {
    return fail(ErrorCode::kDeviceError, "clEnqueueMapBuffer returned success but a null pointer");
  }
  BufferMap map;
  map.data_ = data;
  map.api_ = &api;
  map.queue_ = queue;
  map.buffer_ = buffer;
  map.size_ = bytes;
  return map;
}

BufferMap::BufferMap(BufferMap&& other) noexcept
    : api_(other.api_),
      queue_(other.queue_),
      buffer_(other.buffer_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

BufferMap::~BufferMap() { (void)unmap(); }

Status BufferMap::unmap() {
  if (!data_) return {};
  size_ = 0;
  const cl_int code = api_->clEnqueueUnmapMemObject(queue_, buffer_, std::exchange(data_, nullptr),
                                                    0, nullptr, nullptr);
  return cl_status(code, "clEnqueueUnmapMemObject");
}

}  // namespace clvet
