// Texts that a language model goes on with.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "clvet/clvet_c.h"
#include "clvet/language.h"
#include "clvet/result.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep
#include "runtime/api/user_calls.h"

namespace clvet::v1::c {
namespace {

constexpr int64_t kUsualTokens = 128;

static_assert(static_cast<int>(Ending::end_of_text) == CLVET_END_OF_TEXT &&
              static_cast<int>(Ending::limit) == CLVET_LIMIT &&
              static_cast<int>(Ending::stopped) == CLVET_STOPPED);

GenerateOptions wanted_by(const clvet_generate_options& given, UserCalls& user_calls) {
  GenerateOptions options;
  options.max_tokens = given.max_tokens == 0 ? kUsualTokens : given.max_tokens;
  options.temperature = given.temperature;
  options.top_k = given.top_k;
  options.top_p = given.top_p == 0 ? 1 : given.top_p;
  options.seed = given.seed;
  if (given.on_text)
    options.on_text = [&user_calls, on_text = given.on_text,
                       user = given.on_text_user](const std::string& piece) {
      bool goes_on = false;
      user_calls([&] { goes_on = on_text(without_nul(piece).c_str(), user) != 0; });
      return goes_on;
    };
  return options;
}

Result<std::vector<ChatTurn>> turns_of(const clvet_generate_options& given) {
  if (const Status there = check_array("turns", given.turns, given.turn_count); !there)
    return there.error();
  std::vector<ChatTurn> turns;
  for (size_t i = 0; i < given.turn_count; ++i) {
    const clvet_chat_turn& turn = given.turns[i];
    if (!turn.role || !turn.text)
      return invalid(fmt::format("turn {} has no {}", i, turn.role ? "text" : "role"));
    turns.push_back({turn.role, turn.text});
  }
  return turns;
}

Result<Generated> generate(v1::LanguageModel& model, const clvet_generate_options& given,
                           const GenerateOptions& options) {
  if (given.prompt) return model.generate(std::string(given.prompt), options);
  if (given.prompt_tokens) {
    const size_t count = given.prompt_token_count;
    if (const Status there = check_array("prompt_tokens", given.prompt_tokens, count); !there)
      return there.error();
    return model.generate(std::vector<int32_t>(given.prompt_tokens, given.prompt_tokens + count),
                          options);
  }
  const auto turns = turns_of(given);
  if (!turns) return turns.error();
  return model.chat(*turns, options);
}

Status generate(clvet_language* model, const clvet_generate_options* options,
                clvet_generated** out) {
  const auto given = options_of(options);
  if (!given) return given.error();
  if ((given->prompt != nullptr) + (given->prompt_tokens != nullptr) + (given->turns != nullptr) !=
      1)
    return invalid("give one of prompt, prompt_tokens and turns");
  UserCalls user_calls("on_text");
  Result<Generated> generated = generate(model->model, *given, wanted_by(*given, user_calls));
  if (Status told = user_calls.take_fault(); !told) return told;
  if (generated) generated->text = without_nul(generated->text);
  return give(out, std::move(generated));
}

const int32_t* tokens_of(const std::vector<int32_t>* tokens, size_t* count) {
  if (count) *count = tokens ? tokens->size() : 0;
  return tokens ? tokens->data() : nullptr;
}

}  // namespace
}  // namespace clvet::v1::c

using namespace clvet::v1::c;

clvet_code clvet_language_generate(clvet_language* model, const clvet_generate_options* options,
                                   clvet_generated** out) {
  clear(out);
  return call(__func__, {{"model", model}, {"options", options}, {"out", out}},
              [&] { return generate(model, options, out); });
}

const char* clvet_generated_text(const clvet_generated* result) {
  return result ? result->generated.text.c_str() : "";
}

const int32_t* clvet_generated_tokens(const clvet_generated* result, size_t* count) {
  return tokens_of(result ? &result->generated.tokens : nullptr, count);
}

const int32_t* clvet_generated_prompt(const clvet_generated* result, size_t* count) {
  return tokens_of(result ? &result->generated.prompt : nullptr, count);
}

clvet_ending clvet_generated_ending(const clvet_generated* result) {
  return result ? static_cast<clvet_ending>(result->generated.ending) : CLVET_END_OF_TEXT;
}

void clvet_generated_free(clvet_generated* result) { delete result; }
