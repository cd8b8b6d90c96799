// What RNN, GRU and LSTM share: shapes, directions, activations, and the walk over the steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

class Steps;
struct Term;

// A function of a gate; `alpha` and `beta` as ONNX names them.
struct GateFunction {
  float (*function)(float x, float alpha, float beta) = nullptr;
  // The same as steps (runtime/ops/support/steps.h).
  Term (*step)(Steps& s, const Term& x, double alpha, double beta) = nullptr;
  float alpha = 0, beta = 0;
  float clip = 0;  // bounds of what goes in; 0: none
  float operator()(float x) const;
};

struct Recurrent {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1;
  int64_t gates = 1;
  bool batch_first = false, reverse = false;
  bool rounds_state = false;  // before its product, to what DynamicQuantizeLinear makes of it
  std::vector<GateFunction> functions;  // for each direction as many as the cell has

  Shape state() const {
    return batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  }
  Shape all() const {
    return batch_first ? Shape{batch, steps, directions, hidden}
                       : Shape{steps, directions, batch, hidden};
  }
  int64_t state_at(int64_t d, int64_t b) const {
    return (batch_first ? b * directions + d : d * batch + b) * hidden;
  }
  bool backwards(int64_t d) const { return reverse || d == 1; }
};

// From inputs X W R B sequence_lens initial_h and the attributes, of which `defaults` are the
// activations of a direction. kInvalidArgument where they contradict each other.
Result<Recurrent> recurrent_of(const OpCall& call, int64_t gates,
                               std::span<const std::string_view> defaults);

// Each value as DynamicQuantizeLinear and then DequantizeLinear give it.
void round_dynamically(std::span<float> values);

// The part of input i that belongs to direction d; nullptr where the node has no such input.
const float* direction_part(const OpCall& call, const Recurrent& p, size_t i, int64_t d);
// One state for each of the batch: input i of direction d, or zeros.
std::vector<float> initial_state(const OpCall& call, const Recurrent& p, size_t i, int64_t d);
// Back into an output of the shape state().
void keep_state(const std::vector<float>& state, const Recurrent& p, int64_t d, Tensor& out);

// Updates one hidden state. The sums of its gates, one after the other: what x and W make, and what
// the state so far and R make; neither has a bias in it.
using CellStep = std::function<void(int64_t b, const float* from_x, const float* from_h, float* h)>;

// Walks the steps of direction d, each sequence up to its own length, and puts each new state into
// `all`. `h` holds the state.
void run_direction(const OpCall& call, const Recurrent& p, int64_t d, const CellStep& step,
                   std::vector<float>& h, Tensor& all);

}  // namespace clvet
