// A call of a language model seen alone, in one step of a text.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

class CallSuspect : public Suspect {
 public:
  // Behind the exact run of the call, whose buffers are as it left them. All must outlive it.
  CallSuspect(DecoderEmulation& emulation, const DecoderCall& call, DecoderStep step);

  NumberFormat format() const override { return emulation_.rules().format; }
  const std::vector<SeenValue>& inputs() const override { return inputs_; }
  const std::vector<SeenValue>& outputs() const override { return outputs_; }
  std::optional<SeenValue> inner() const override;
  bool adds() const override { return call_.op == "eltwise_binary"; }
  Result<double> part(const Rounded& rounded) const override;
  Result<double> part_of_small(int input) const override;
  // Of all its outputs, with what `rounded` says.
  Result<Deviation> deviation(const Rounded& rounded,
                              DecoderEmulation::Round round = round_to) const;

 private:
  DecoderEmulation& emulation_;
  const DecoderCall& call_;
  DecoderStep step_;
  std::vector<SeenValue> inputs_, outputs_;
  std::vector<float> squares_;  // sums, where it is a norm that holds them
};

}  // namespace clvet
