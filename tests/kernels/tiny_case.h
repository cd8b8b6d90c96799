// A call so small that its result can be worked out by hand; also those that an op's own file has
// (kernels/op_trials.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/contract.h"

namespace clvet {

// In `want`: an element that must keep what it held.
inline constexpr double kUntouched = -12345;

struct TinyCase {
  std::string name;
  std::string op;
  Dims dims;
  std::map<std::string, Values, std::less<>> tensors;
  Values want;  // the outputs one after the other
  Scalars scalars = {};
};

// Those of the ops that language models are made of.
std::vector<TinyCase> language_cases();

}  // namespace clvet
