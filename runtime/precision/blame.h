// Why a node of a model is wrong at low precision, told from the node alone: it is given the
// reference's inputs, so that errors of other nodes have no part in it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

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
enum class FaultPlace { kConstant, kInput, kOutput, kInside };
const char* to_string(FaultPlace place);
inline constexpr int kFaultPlaceCount = 4;

struct Blame {
  PrecisionFault fault = PrecisionFault::kRange;
  FaultPlace place = FaultPlace::kOutput;
  std::string value;                 // the constant, input or output, or what is held inside
  double largest = 0, smallest = 0;  // of its finite |values| that are not 0
  int input = -1;                    // of the node, unless it is an output
  bool lossy = false;  // an input that is not in the format's range: whoever makes it is at fault
};

// The largest relative error, root mean square, that rounding of inputs, constants and outputs of
// a well-conditioned node explains: each contributes 2^-bits at most, those of sums average out,
// so that 2^5 of them leave room for differences of values sixteen times their result.
double isolated_bound(NumberFormat format);

// Float32 values that a node reads, writes or holds.
struct SeenValue {
  std::string name;
  std::span<const float> values;  // of the reference; empty where they are not float32
  bool constant = false;
};

// A node seen alone, with one thing rounded at a time.
class Suspect {
 public:
  virtual ~Suspect() = default;
  virtual NumberFormat format() const = 0;
  virtual const std::vector<SeenValue>& inputs() const = 0;  // an empty name: there is none
  virtual const std::vector<SeenValue>& outputs() const = 0;
  // What the node holds in the format while it computes.
  virtual std::optional<SeenValue> inner() const { return std::nullopt; }
  virtual bool adds() const = 0;  // its outputs are sums or differences of its inputs
  // The error of its outputs (Deviation::part()).
  virtual Result<double> part(const Rounded& rounded) const = 0;
  // The same where of one input the elements are rounded that are too small for all their bits.
  virtual Result<double> part_of_small(int input) const = 0;
};

// Of a node whose outputs, computed from rounded inputs, are out of bounds.
Result<Blame> blame_of(const Suspect& suspect);

}  // namespace clvet
