// LSTM.
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/lstm.h"

namespace clvet::op_lstm {
namespace {

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return run_lstm(call, false, outputs);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"LSTM"},
    .since = 7,
    .inputs = "T T T T? i? T? T? T?",
    .types = "s",
    .attributes =
        "activation_alpha:F activation_beta:F activations:S clip:f "
        "direction:s=forward|reverse|bidirectional "
        "hidden_size:i input_forget:i layout:i",
    .max_outputs = 3,
    .infer = infer_lstm,
    .host = host,
    .expand = lstm_steps,
};

}  // namespace clvet::op_lstm
