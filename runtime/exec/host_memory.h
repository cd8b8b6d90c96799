// Memory of the host that a device's answers are read into.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"
#include "kernels/layout.h"
#include "probe/cl/handles.h"
#include "runtime/exec/buffer_map.h"

namespace clvet {

class HostMemory {
 public:
  HostMemory() = default;
  // The process's own.
  explicit HostMemory(size_t bytes) : own_(bytes) {}
  // The driver's: a buffer, mapped. A device writes there directly, where other memory takes a copy.
  HostMemory(ClMem buffer, BufferMap map) : buffer_(std::move(buffer)), map_(std::move(map)) {}

  std::span<std::byte> bytes() { return buffer_ ? map_.bytes() : std::span<std::byte>(own_); }
  bool is_drivers() const { return static_cast<bool>(buffer_); }

 private:
  Bytes own_;
  ClMem buffer_;
  BufferMap map_;
};

}  // namespace clvet
