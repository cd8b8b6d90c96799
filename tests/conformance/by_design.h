// The fixed list of what runs on the host by design (host_by_design.json): operators with reasons.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet::conformance {

class HostByDesign {
 public:
  static Result<HostByDesign> read(const std::string& path);

  // The list's rows: "always"; "integers": only where the first input and every output is of
  // integers or truth values (an integer to the power of a float is integer arithmetic); "integer
  // side": where some input or all outputs are.
  bool covers(const std::string& op, std::span<const DType> inputs,
              std::span<const DType> outputs) const;

 private:
  enum class When { kAlways, kIntegers, kIntegerSide };
  std::map<std::string, When> rows_;
};

}  // namespace clvet::conformance
