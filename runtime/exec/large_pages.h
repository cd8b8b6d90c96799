// Memory of the host in large pages, for the buffers of a device that works in it.
//
// A network's weights and tensors lie in thousands of small pages: more than a processor keeps the
// addresses of, so that each inference looks them up again.
#pragma once

#include <cstddef>
#include <memory>

namespace clvet {

class LargePages {
 public:
  // `bytes` of memory, from the first byte of a page on; what lies there is anything. Null: so few
  // gain nothing, or there are none. It is free again once nobody holds it.
  std::shared_ptr<std::byte> part(size_t bytes);

 private:
  // The parts hold it, too.
  std::shared_ptr<std::byte> region_;
  size_t size_ = 0, used_ = 0;
};

}  // namespace clvet
