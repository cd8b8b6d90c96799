// Times a language model: a prompt and the tokens behind it, again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "runtime/run/bench_record.h"
#include "runtime/run/language_session.h"

namespace clvet {

struct LanguageBench {
  std::vector<int32_t> prompt;  // not empty
  int64_t tokens = 32;          // that are generated behind it, 2 at least; none of them ends it
  int warm_up = 0, repeat = 0;  // answers that are not counted, and those that are
  std::function<bool()> stop;   // true: what was measured until then is all
  EventSink sink;
};

// "prompt": all of its tokens are one sample. "token": each generated token is one, but the first,
// which the prompt gives. Errors: LanguageSession::take's.
Result<std::vector<Measurement>> bench_language(LanguageSession& session,
                                                const LanguageBench& bench);

}  // namespace clvet
