// What of a model is rounded where it is emulated at low precision.
#pragma once

#include <vector>

#include "runtime/precision/number_format.h"

namespace clvet {

struct EmulationRules {
  NumberFormat format = NumberFormat::kHalf;
  // Constants of one axis (biases, scales, means) stay float32, as clvet's own kernels read them
  // (kernels/contract.h, TensorKind::kVector). Other engines round every constant.
  bool float_vectors = false;
};

// What of one node is rounded. Values that are not float32 never are.
struct Rounded {
  bool constants = true, inputs = true, outputs = true;
  bool inner = true;       // what the node holds while it computes, if that is emulated
  int only_input = -1;     // not below 0: of the inputs this one alone
  int only_constant = -1;  // the same of the constants

  static Rounded nothing() { return {false, false, false, false}; }
  static Rounded output() { return {false, false, true, false}; }
  static Rounded input(int index) { return {false, true, false, false, index}; }
  static Rounded constant(int index) { return {true, false, false, false, -1, index}; }
  bool rounds_input(int index) const { return inputs && (only_input < 0 || only_input == index); }
  bool rounds_constant(int index) const {
    return constants && (only_constant < 0 || only_constant == index);
  }
};

// Nodes that keep float32, by node of the model: they read what is stored and write float32, and
// their constants are not rounded.
using Raised = std::vector<bool>;

}  // namespace clvet
