// The supervisor's half of the check `map_read`: what a buffer is filled with, and what maps of it
// showed.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace clvet {

class MapReadCheck {
 public:
  // `launches`: how often the canary's kernel overwrites the buffer, which is mapped after each; 0
  // where the canary is not right.
  static Result<MapReadCheck> create(size_t launches);
  nlohmann::json request() const;
  std::vector<int> fds() const { return {written_.get(), seen_.get()}; }
  // What is wrong with what the maps showed; empty: nothing.
  std::string fault() const;

 private:
  UniqueFd written_, seen_;
  size_t launches_ = 0;
};

}  // namespace clvet
