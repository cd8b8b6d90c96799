#include "runtime/run/bench_language.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/result.h"
#include "runtime/run/answer.h"
#include "runtime/run/bench_record.h"
#include "runtime/run/language_session.h"

namespace clvet {
namespace {

struct Sample {
  double prompt_ms = 0;
  std::vector<double> token_ms;
};

Result<Sample> one_answer(LanguageSession& session, const LanguageBench& bench) {
  Sample sample;
  int64_t said = 0;
  double last = 0;
  const auto say = [&](std::string_view) {
    if (said > 0 && said < bench.tokens) sample.token_ms.push_back(ms_since(last));
    ++said;
    last = monotonic_seconds();
  };
  session.restart();
  CLVET_ASSIGN_OR_RETURN(const Answer made, answer(session, bench.prompt,
                                                   {.tokens = bench.tokens,
                                                    .sampler = {},
                                                    .tokenizer = nullptr,
                                                    .say = say,
                                                    .stop = bench.stop,
                                                    .sink = bench.sink}));
  // The end of an answer is said, too.
  const bool cut = static_cast<int64_t>(made.tokens.size()) < bench.tokens;
  if (cut && !sample.token_ms.empty()) sample.token_ms.pop_back();
  sample.prompt_ms = made.prompt_ms;
  return sample;
}

}  // namespace

Result<std::vector<Measurement>> bench_language(LanguageSession& session,
                                                const LanguageBench& bench) {
  Measurement prompt{"prompt", static_cast<int64_t>(bench.prompt.size()), {}};
  Measurement token{"token", 1, {}};
  const int all = bench.warm_up + bench.repeat;
  for (int i = 0; i < all && !bench.stop(); ++i) {
    bench.sink({EventLevel::kProgress, fmt::format("answer {} of {}", i + 1, all), i, all});
    CLVET_ASSIGN_OR_RETURN(const Sample sample, one_answer(session, bench));
    if (i < bench.warm_up) continue;
    prompt.samples_ms.push_back(sample.prompt_ms);
    token.samples_ms.insert(token.samples_ms.end(), sample.token_ms.begin(), sample.token_ms.end());
  }
  return std::vector{prompt, token};
}

}  // namespace clvet
