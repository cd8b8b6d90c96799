// Texts for a language model, as options of a verb.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/llm_config.h"
#include "runtime/precision/diagnose_language.h"

namespace clvet {

struct PromptArguments {
  std::vector<std::string> texts;
  std::string ids, teacher_forced;
  bool no_bos = false;

  bool any() const { return !texts.empty() || !ids.empty() || !teacher_forced.empty() || no_bos; }
};

void add_prompt_inputs(Verb verb, PromptArguments& arguments);

// All that the options name, and each file of `folder` (empty: none), as take_entries() has them.
// kInvalidArgument: an option cannot be used, or there is no text.
Result<std::vector<LanguageInput>> read_prompt_inputs(const PromptArguments& arguments,
                                                      const std::string& folder,
                                                      const GgufFile& file, const LlmConfig& config,
                                                      std::vector<std::string>& left_out);

// A JSON array of token ids.
Result<std::vector<int32_t>> read_token_ids(const std::string& path);

}  // namespace clvet
