// The tokens that a language model adds to a prompt.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "runtime/llm/sampler.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/run/language_session.h"

namespace clvet {

struct AnswerOptions {
  int64_t tokens = 128;  // the most that are added
  SamplerOptions sampler;
  // Makes text of the tokens, and knows which one ends it. Null: the ids are the text.
  const Tokenizer* tokenizer = nullptr;
  std::function<void(std::string_view)> say;  // gets the text piece by piece
  std::function<bool()> stop;                 // true: no more tokens
  EventSink sink;                             // progress of the prompt
};

struct Answer {
  std::vector<int32_t> prompt, tokens;
  std::string text;
  bool interrupted = false;
  double prompt_ms = 0, tokens_ms = 0;
  std::optional<double> device_ms;  // of one token, by the device's own clock
};

// Errors: those of the sampler's options and of LanguageSession::take. What was said until then
// stays said.
Result<Answer> answer(LanguageSession& session, std::vector<int32_t> prompt,
                      const AnswerOptions& options);

}  // namespace clvet
