// A language model emulated on the host as the model that is diagnosed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/diagnose_language.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/logits.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/wiring.h"

namespace clvet {

class LanguageModel : public DiagnosedModel {
 public:
  static constexpr const char* kResidual = "hidden";

  // All must outlive it.
  LanguageModel(DecoderEmulation& emulation, const std::vector<LanguageInput>& inputs,
                double target);

  size_t inputs() const override { return inputs_.size(); }
  const Wiring& wiring() const override { return wiring_; }
  std::vector<DiagnosedNode> nodes() const override;
  double cost(const Raised& raised, std::span<const DiagnosedNode> nodes) override;
  Result<Look> look(size_t input) override;
  Result<DiagnosedInput> with(const Raised& raised, size_t input, Detail detail) override;

 protected:
  DiagnosedInput judged(size_t input, const LogitsJudge& judge) const;
  DecoderEmulation& emulation() { return emulation_; }
  const LanguageInput& input(size_t index) const { return inputs_[index]; }

 private:
  Result<LogitsJudge> compute(const Raised& raised, size_t input, bool hasty);
  Result<bool> run(const Raised& raised, DecoderStep step);
  Status answer(const Raised& raised, size_t input, DecoderStep step);

  DecoderEmulation& emulation_;
  const std::vector<LanguageInput>& inputs_;
  double target_;
  Wiring wiring_;
  std::vector<std::vector<float>> normed_;  // by input, see WatchedText
  std::vector<double> allowed_;             // by input, see LogitsJudge
};

}  // namespace clvet
