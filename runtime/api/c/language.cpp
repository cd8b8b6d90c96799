#include "clvet/language.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep
#include "runtime/api/c/open_options.h"

using namespace clvet::v1::c;
using clvet::v1::LanguageModel;
using clvet::v1::LanguageOptions;
using clvet::v1::Status;

clvet_code clvet_language_open(const char* path, const clvet_language_options* options,
                               clvet_language** out) {
  clear(out);
  return call(__func__, {{"path", path}, {"out", out}}, [&]() -> Status {
    const auto given = options_of(options);
    if (!given) return given.error();
    auto wanted = opened_with<LanguageOptions>(*given);
    wanted.memory = text_or(given->memory, "auto");
    return give(out, LanguageModel::open(path, wanted));
  });
}

void clvet_language_free(clvet_language* model) { delete model; }

clvet_code clvet_language_tokenize(const clvet_language* model, const char* text, int32_t** tokens,
                                   size_t* count) {
  clear(tokens);
  clear(count);
  return call(__func__, {{"model", model}, {"text", text}, {"tokens", tokens}, {"count", count}},
              [&]() -> Status {
                const auto known = model->model.tokenize(text);
                if (!known) return known.error();
                void* block = std::malloc(std::max<size_t>(known->size(), 1) * sizeof(int32_t));
                if (!block) throw std::bad_alloc();
                *tokens = static_cast<int32_t*>(block);
                std::copy(known->begin(), known->end(), *tokens);
                *count = known->size();
                return {};
              });
}

void clvet_tokens_free(int32_t* tokens) { std::free(tokens); }

clvet_code clvet_language_text_of(const clvet_language* model, const int32_t* tokens, size_t count,
                                  char** text) {
  clear(text);
  return call(__func__, {{"model", model}, {"text", text}}, [&]() -> Status {
    if (const Status there = check_array("tokens", tokens, count); !there) return there.error();
    return give_text(text, model->model.text_of(std::vector<int32_t>(tokens, tokens + count)));
  });
}

clvet_code clvet_language_cancel(clvet_language* model) {
  return call(__func__, {{"model", model}}, [&]() -> Status {
    model->model.cancel();
    return {};
  });
}
