// What an op is tried on, whichever kernel computes it: kernels/reference/<op>.json, beside the
// op's contract. A variant's manifest says only where it differs (kernels/manifest.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"

namespace clvet {

// A call so small that its result can be worked out by hand.
struct OpExample {
  std::string name;
  CallValues values;
  Values want;  // the outputs one after the other
};

struct OpTrials {
  std::string op;
  std::vector<TestShape> tests;    // of each variant that takes them
  std::vector<std::string> timed;  // names of tests; empty: see timed_shapes() of the probe
  std::vector<InputDomain> domains;
  std::vector<OpExample> examples;  // of what the contract's reference computes
};

// Parses the file at `path` ("reference/<op>.json"). kInvalidArgument: the message names the file
// and the field.
//
// Fields, all optional: tests, a list of {name, dims, scalars}; timed; domains, a list of {tensor,
// where, low, high, edges, largest_half}, each as InputDomain has it; examples, a list of {name,
// dims, scalars, tensors, want}.
Result<OpTrials> parse_op_trials(const std::string& path, const std::string& text);

// The first of the domains that holds for this tensor of a call; nullptr: none does.
const InputDomain* find_domain(const std::vector<InputDomain>& domains, std::string_view tensor,
                               const Dims& dims);

}  // namespace clvet
