// What an op computes, apart from how any kernel does it: its tensors, its float64 reference and
// what is needed to bound the error of a right answer.
//
// One contract an op, in kernels/reference/<family>.cpp; the table of them is written by CMake from
// that folder. The contract knows logical tensors only; kernels/layout.h turns them into bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {

// Named integers of one call: extents ("M", "N", "K", "H", ...) and integer attributes ("stride_h",
// "act", ...). Keys are the names that manifests use in args and expressions.
using Dims = std::map<std::string, int64_t, std::less<>>;
// Named real attributes of one call ("act_lo", "act_hi", "epsilon").
using Scalars = std::map<std::string, double, std::less<>>;

enum class TensorKind {
  kInput,    // activation read by the kernel
  kOutput,   // activation written by the kernel; an op has one or more, the first is named "y"
  kWeights,  // constant matrix [taps][cin][cout], or n of them, float or quantised; "w" where an op
             // has one
  kVector,   // constant float vector of `c` values (bias, scale), always float32 on the device
  kIndices,  // `c` row numbers, known at run time, always int32 on the device
  kState,    // `c` words that launches share, int32, 0 before the first one
};

// A tensor of an op call, seen as channels-last. A matrix [rows, columns] is {1, rows, 1, columns}
// or any other split of the rows into n*h*w: the buffer layout is the same.
struct TensorRole {
  std::string name;
  TensorKind kind = TensorKind::kInput;
  int64_t n = 1, h = 1, w = 1, c = 1;   // activations; a vector uses c alone
  int64_t taps = 1, cin = 1, cout = 1;  // weights, and n matrices, one behind the other
  bool pad_cin = true;                  // weights: is cin padded to a multiple of 4?
  int64_t extent = 0;                   // indices: how many rows there are to choose from
  bool in_float = false;                // activations: stored as float32 at every precision
  int64_t elements() const;             // logical count, without padding
};

// The products of an op with several matrices, each of whose weights is multiplied once for a row,
// or a pixel, of the first output. 0: there is one matrix, or none.
double products_of_matrices(const std::vector<TensorRole>& roles);

// Logical values in row-major order of (n,h,w,c), of (taps,cin,cout), or of (c), without padding.
using Values = std::vector<double>;

// What the reference says of each output element, enough to bound the rounding error of any kernel
// that computes it correctly in some order (see kernels/tolerance.h). Several outputs stand one
// after the other, as roles() has them.
struct ReferenceResult {
  Values value;
  Values sum_squares;  // sum over the reduction of (term)^2; empty: no reduction, error is of
                       // `value` alone
  Values
      sensitivity;  // largest |dy/dz| near z of what follows the reduction (activation), 1 if empty
  Values
      functions;  // error of the functions in y, in units of the arithmetic's roundoff; 0 if empty
  int64_t reduction = 1;  // number of terms
  // Multiplications an output, where they are not as many as its terms; 0: they are.
  double products = 0;
  bool in_float = false;  // the op computes in float at every precision: its roundoff is float's
  bool stored_in_float = false;  // its outputs are TensorRole::in_float
  // Elements that must keep what they held; empty: every one is written. Only in outputs whose c is
  // a multiple of 4.
  std::vector<bool> untouched;
};

struct CallValues {
  Dims dims;
  Scalars scalars;
  std::map<std::string, Values, std::less<>> tensors;  // inputs, weights, vectors by role name
};

struct OpContract {
  std::string_view op;  // "gemm"
  // The tensors of a call with these dims, inputs first, then weights, vectors, outputs. Fails with
  // kInvalidArgument where a needed dim is absent, not positive or inconsistent.
  Result<std::vector<TensorRole>> (*roles)(const Dims& dims);
  // The float64 reference of the op's outputs. `values` holds every non-output role.
  ReferenceResult (*reference)(const CallValues& values);
};

// Every op contract, sorted by op. Generated from kernels/reference/.
const std::vector<const OpContract*>& op_contracts();
// nullptr where there is no such op.
const OpContract* find_op_contract(std::string_view op);

// The activation codes that every kernel with an epilogue takes as the integer argument "act";
// "act_lo" and "act_hi" are its two real parameters. y = f(z). Named here are those that code asks
// for by name; all that is known of each is its row in kernels/act_table.cpp.
enum class Act : int64_t {
  kNone = 0,
  kRelu = 1,         // max(z, 0)
  kClip = 2,         // min(max(z, lo), hi)
  kHardSigmoid = 3,  // min(max(lo * z + hi, 0), 1): lo is ONNX alpha, hi is ONNX beta
  kHardSwish = 4,    // z * min(max(lo * z + hi, 0), 1)
  kSigmoid = 5,
  kTanh = 6,
  kSilu = 7,  // z * sigmoid(z)
  kGeluErf = 8,
  kGeluTanh = 9,
  kExp = 10,
  kSqrt = 11,
  kLeakyRelu = 12,  // z < 0 ? lo * z : z
  kAffine = 13,     // lo * z + hi
};
double apply_act(Act act, double lo, double hi, double z);
// |f'(z)|, the larger one-sided value at a kink.
double act_slope(Act act, double lo, double hi, double z);

}  // namespace clvet
