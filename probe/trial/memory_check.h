// The supervisor's half of the checks of memory that host and device share: what it is filled with,
// and what maps of it showed.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

class MemoryCheck {
 public:
  // `kind`: map_read, host_pointer, arm_import or svm. `launches`: how often the canary's kernel
  // overwrites the memory, which is mapped after each; 0 where the canary is not right.
  static Result<MemoryCheck> create(std::string kind, size_t launches);
  nlohmann::json request() const;
  std::vector<int> fds() const { return {written_.get(), seen_.get()}; }
  // What is wrong with what the maps showed; empty: nothing.
  std::string fault() const;

 private:
  UniqueFd written_, seen_;
  std::string kind_;
  size_t launches_ = 0;
};

// The checks that suit a device, in order: `map_read` and `host_pointer`, which every driver owes,
// and those that it advertises.
std::vector<std::string> memory_checks_of(const DeviceReport& device);

}  // namespace clvet
