// The supervisor's half of the check `map_read`: what a buffer is filled with, and what a map of it
// showed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace clvet {

class MapReadCheck {
 public:
  static Result<MapReadCheck> create();
  nlohmann::json request() const;
  std::vector<int> fds() const { return {written_.get(), seen_.get()}; }
  bool shows_what_was_written() const;

 private:
  UniqueFd written_, seen_;
};

}  // namespace clvet
