// Why a node of a network is wrong at low precision, told from the node alone: it is given the
// reference's inputs, so that errors of other nodes have no part in it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/number_format.h"

namespace clvet {

enum class PrecisionFault {
  kOverflow,      // a value or a constant exceeds the format's range
  kUnderflow,     // small ones become 0 or lose bits
  kInteger,       // whole numbers too large to be told apart: positions, counts
  kCancellation,  // the difference of values that are much larger than it
  kRange,         // rounding its inputs, each within the format, changes its outputs much
  kArithmetic,    // the kernel computes something else than the host
};
const char* to_string(PrecisionFault fault);
inline constexpr int kPrecisionFaultCount = 6;

// Where the rounding happens that makes the error.
enum class FaultPlace { kConstant, kInput, kOutput };
const char* to_string(FaultPlace place);

struct Blame {
  PrecisionFault fault = PrecisionFault::kRange;
  FaultPlace place = FaultPlace::kOutput;
  std::string value;                 // the constant, input or output
  double largest = 0, smallest = 0;  // of its finite |values| that are not 0
  int input = -1;                    // of the node, unless it is an output
  bool lossy = false;  // an input that is not in the format's range: whoever makes it is at fault
};

// The largest relative error, root mean square, that rounding of inputs, constants and outputs of
// a well-conditioned node explains: each contributes 2^-bits at most, those of sums average out,
// so that 2^5 of them leave room for differences of values sixteen times their result.
double isolated_bound(NumberFormat format);

// Of a node whose outputs, computed from rounded `values` (the reference's), are out of bounds.
// `exact`: the reference's outputs.
Result<Blame> blame_of(const Emulation& emulation, size_t node, std::span<const Tensor> values,
                       std::span<const Tensor> exact);

// Of float32 outputs against the reference's.
Deviation deviation_of(std::span<const Tensor> outputs, std::span<const Tensor> reference);

}  // namespace clvet
