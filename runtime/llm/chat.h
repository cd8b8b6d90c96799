// Conversations as prompts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/llm/tokenizer.h"

namespace clvet {

struct ChatMessage {
  std::string role, text;  // role: "system", "user" or "assistant"
};

// The prompt that asks for the assistant's next turn, by the file's template
// ("tokenizer.chat_template"). ChatML alone is known:
//   <|im_start|>role\ntext<|im_end|>\n ... <|im_start|>assistant\n
// A template is recognised by its marks, never run. Where no message is the system's and the
// template states a system text of its own, that goes first. What messages say is no special part.
// kUnsupported: no template (a base model), or another one, named where it is known.
Result<std::vector<PromptPart>> chat_prompt(std::string_view chat_template,
                                            std::span<const ChatMessage> messages);

// "ChatML", the name of another template that is recognised, "unknown", or "none".
std::string chat_template_name(std::string_view chat_template);

}  // namespace clvet
