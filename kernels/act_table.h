// The activations: all that is known of one stands in its row. Kernels, references, the ONNX
// operators and the trials follow from the rows.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "kernels/contract.h"

namespace clvet {

// A function of z with two parameters, as kernels take them.
using ActFunction = double (*)(double z, double lo, double hi);

struct ActRow {
  Act act = Act::kNone;  // its place in the table
  std::string_view name;
  ActFunction value = nullptr;
  ActFunction slope = nullptr;  // |f'(z)|, the larger one at a kink
  // Error of the functions that it uses, in units of roundoff, when it is computed in floating
  // point by its OpenCL text or a better formula.
  ActFunction error = nullptr;
  // Where the slope jumps, besides at 0; nullptr: nowhere.
  std::array<double, 2> (*kinks)(double lo, double hi) = nullptr;
  bool not_negative = false;  // defined for z >= 0 alone
  // The ONNX operator that computes it, lo and hi being its attributes alpha and beta with these
  // defaults; empty: none does without a condition.
  std::string_view onnx = "";
  double alpha = 0, beta = 0;
  bool fused = true;  // that operator's node may go into the one before it
  // An expression of z, lo and hi on act_float, which is what z is; empty: it stands under its
  // number in kernels/common/activation.clh, because it shares an exp with others.
  std::string_view opencl = "";
};

// Sorted by act, which are 0, 1, 2 and so on.
std::span<const ActRow> act_rows();
// That of Act::kNone for a number that no row has.
const ActRow& act_row(Act act);
// nullptr: no row names that operator.
const ActRow* act_of_onnx(std::string_view op);

// A prelude with the line "// ACTIVATIONS" replaced by a case for each row with an expression.
std::string with_activations(std::string prelude);

}  // namespace clvet
