#include "runtime/run/answer.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/result.h"
#include "runtime/llm/sampler.h"
#include "runtime/llm/text_stream.h"
#include "runtime/run/language_session.h"

namespace clvet {
namespace {

// Says tokens as text, or as ids where there is no tokenizer.
class Speaker {
 public:
  Speaker(const AnswerOptions& options, std::string& text) : options_(options), text_(text) {
    if (options.tokenizer) stream_.emplace(*options.tokenizer);
  }

  void say(int32_t token) {
    const char* gap = text_.empty() ? "" : " ";
    say(stream_ ? stream_->push(token) : fmt::format("{}{}", gap, token));
  }

  void finish() {
    if (stream_) say(stream_->finish());
  }

 private:
  void say(const std::string& piece) {
    text_ += piece;
    options_.say(piece);
  }

  const AnswerOptions& options_;
  std::string& text_;
  std::optional<TextStream> stream_;
};

Status add_tokens(LanguageSession& session, std::span<const float> logits, const Sampler& sampler,
                  const AnswerOptions& options, Speaker& speaker, Answer& out) {
  for (int64_t i = 0; i < options.tokens; ++i) {
    CLVET_ASSIGN_OR_RETURN(const int32_t next, sampler.pick(logits, static_cast<uint64_t>(i)));
    if (options.tokenizer && options.tokenizer->ends(next)) break;
    out.tokens.push_back(next);
    speaker.say(next);
    out.interrupted = options.stop();
    if (out.interrupted || i + 1 == options.tokens) break;
    if (i + 2 == options.tokens) session.expect_greedy(false);
    CLVET_ASSIGN_OR_RETURN(logits, session.take(std::span(&out.tokens.back(), 1)));
  }
  return {};
}

// For as long as it lives.
class Greedy {
 public:
  Greedy(LanguageSession& session, bool greedy) : session_(session) {
    session_.expect_greedy(greedy);
  }
  Greedy(const Greedy&) = delete;
  Greedy& operator=(const Greedy&) = delete;
  ~Greedy() { session_.expect_greedy(false); }

 private:
  LanguageSession& session_;
};

}  // namespace

Result<Answer> answer(LanguageSession& session, std::vector<int32_t> prompt,
                      const AnswerOptions& options) {
  CLVET_ASSIGN_OR_RETURN(const Sampler sampler, Sampler::create(options.sampler));
  Answer out;
  out.prompt = std::move(prompt);
  const Greedy greedy(session, options.sampler.temperature == 0 && options.tokens > 1);
  double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(const auto logits, session.take(out.prompt, [&](size_t done) {
    options.sink({EventLevel::kProgress, "tokens of the prompt", static_cast<int>(done),
                  static_cast<int>(out.prompt.size())});
  }));
  out.prompt_ms = ms_since(started);
  started = monotonic_seconds();
  Speaker speaker(options, out.text);
  const Status added = add_tokens(session, logits, sampler, options, speaker, out);
  speaker.finish();
  if (!added) return tl::unexpected(added.error());
  out.tokens_ms = ms_since(started);
  return out;
}

}  // namespace clvet
