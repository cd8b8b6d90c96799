// What `clvet generate` did and said: `clvet.generate/1`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/exec/language_session.h"

namespace clvet {

struct Answer {
  std::vector<int32_t> prompt, tokens;
  std::string text;
  bool interrupted = false;
  double prompt_ms = 0, tokens_ms = 0;
  std::optional<double> device_ms;  // of one token, by the device's own clock
};

std::string generate_record_to_json(const std::string& model, const LanguageRecord& record,
                                    const Answer& answer);

}  // namespace clvet
