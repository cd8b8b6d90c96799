// One mapping of one buffer, unmapped at the end of its life.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "probe/cl/api.h"

namespace clvet {

class BufferMap {
 public:
  // Waits until the bytes are there. kDeviceError also where the driver says success and gives
  // null.
  static Result<BufferMap> of(const ClApi& api, cl_command_queue queue, cl_mem buffer, size_t bytes,
                              cl_map_flags flags);
  BufferMap(BufferMap&& other) noexcept;
  BufferMap& operator=(BufferMap&&) = delete;
  ~BufferMap();
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), size_}; }
  // Ends it with the driver's word on it; later bytes() are empty.
  Status unmap();

 private:
  BufferMap() = default;
  const ClApi* api_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem buffer_ = nullptr;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace clvet
