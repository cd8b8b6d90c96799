// What LSTM and its quantised form share.
#pragma once

#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

// Of a call with LSTM's inputs and attributes.
Result<std::vector<TensorType>> infer_lstm(const OpCall& call);
// `rounds_state`: as Recurrent has it.
Status run_lstm(const OpCall& call, bool rounds_state, std::vector<Tensor>& outputs);
// OpDef::expand of LSTM.
std::vector<Term> lstm_steps(Steps& s);

}  // namespace clvet
