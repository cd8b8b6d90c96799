// RNN, GRU and LSTM as steps, for a device: the recurrence is unrolled, so that only short ones
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/ops/support/recurrent.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

// What a direction multiplies the state with and adds. Rows of a matrix are one gate after the
// other; biases are rows, or no_term() where the node has none.
struct RecurrentWeights {
  Term r, bias;
  int64_t hidden = 0;
};

// One state after the other, [batch, hidden]; no_term() is a state of zeros.
using StateTerms = std::vector<Term>;
// The next state from the last one and what x, W and their bias make: [batch, gates * hidden].
using CellTerms = std::function<StateTerms(const RecurrentWeights& weights, const Term& from_x,
                                           const StateTerms&)>;

// Outputs Y, Y_h and one more for each further state. `initial`: the inputs of the initial states.
// `cell_of`: the cell of a direction. No steps where the walk would be long, where sequences have
// lengths of their own, or lengths that are not known.
std::vector<Term> recurrent_steps(Steps& s, const Recurrent& p, std::span<const size_t> initial,
                                  const std::function<CellTerms(int64_t direction)>& cell_of);

// The part of an input [directions, ...] that belongs to direction d, as `shape`; no_term() where
// the node has no such input.
Term direction_term(Steps& s, const Recurrent& p, size_t input, int64_t d, const Shape& shape);
// The function of a gate, bounds included.
Term applied(Steps& s, const GateFunction& f, const Term& x);
// h times the rows `r`, plus `bias`.
Term from_state(Steps& s, const Term& h, const Term& r, const Term& bias);
// a + b, a * b; a missing summand is 0.
Term sum_of(Steps& s, const Term& a, const Term& b);
Term product_of(Steps& s, const Term& a, const Term& b);

}  // namespace clvet
