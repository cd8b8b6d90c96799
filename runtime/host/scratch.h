// Memory for the length of a block, which the thread keeps for its next one.
#pragma once

#include <cstddef>
#include <vector>

namespace clvet {

// Room for `count` floats, at an address that vectors like; what is in it is any number. Belongs to
// the thread that made it. std::bad_alloc.
class Scratch {
 public:
  explicit Scratch(size_t count);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  float* data() const { return data_; }

 private:
  std::vector<float> memory_;
  float* data_;
};

}  // namespace clvet
