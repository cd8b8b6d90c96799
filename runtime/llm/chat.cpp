#include "runtime/llm/chat.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/llm/tokenizer.h"

namespace clvet {
namespace {

constexpr std::string_view kTurn = "<|im_start|>", kSystemTurn = "<|im_start|>system",
                           kTurnEnd = "<|im_end|>";

struct TemplateRow {
  std::string_view mark, name;
};
// The first mark that is in a template names it.
constexpr TemplateRow kTemplates[] = {
    {kTurn, "ChatML"},
    {"<start_of_turn>", "Gemma"},
    {"<|start_header_id|>", "Llama 3"},
    {"<\xEF\xBD\x9CUser\xEF\xBD\x9C>", "DeepSeek"},
    {"[INST]", "Llama 2 or Mistral"},
    {"<|user|>", "Zephyr or Phi"},
};

// The text between "<|im_start|>system\n" and "<|im_end|>" where it is a literal of the template,
// not an expression; empty where there is none. Line breaks may be written as \n.
std::string system_text_of(std::string_view chat_template) {
  for (size_t at = chat_template.find(kSystemTurn); at != std::string_view::npos;
       at = chat_template.find(kSystemTurn, at + 1)) {
    std::string_view text = chat_template.substr(at + kSystemTurn.size());
    text = text.substr(0, text.find(kTurnEnd));
    const bool plain = text.find_first_of("'\"{}") == std::string_view::npos;
    const size_t line_break = text.starts_with("\n") ? 1 : text.starts_with("\\n") ? 2 : 0;
    if (plain && line_break != 0 && text.size() < chat_template.size() - at - kSystemTurn.size()) {
      return std::string(text.substr(line_break));
    }
  }
  return {};
}

void add_turn(const ChatMessage& message, std::vector<PromptPart>& parts) {
  parts.push_back({fmt::format("{}{}\n", kTurn, message.role), true});
  parts.push_back({message.text, false});
  parts.push_back({fmt::format("{}\n", kTurnEnd), true});
}

Status check_template(const std::string& name) {
  if (name == "ChatML") return {};
  if (name == "none") {
    return fail(ErrorCode::kUnsupported,
                "the model has no chat template and can only continue a text; leave out --chat");
  }
  if (name == "unknown") {
    return fail(ErrorCode::kUnsupported,
                "clvet does not know the model's chat template, only ChatML; leave out --chat and "
                "write the marks of the turns into the prompt");
  }
  return fail(ErrorCode::kUnsupported,
              "the model's chat template is that of {}, but clvet supports only ChatML; leave out "
              "--chat and write the marks of the turns into the prompt",
              name);
}

}  // namespace

std::string chat_template_name(std::string_view chat_template) {
  if (chat_template.empty()) return "none";
  for (const TemplateRow& row : kTemplates) {
    if (chat_template.find(row.mark) != std::string_view::npos) return std::string(row.name);
  }
  return "unknown";
}

Result<std::vector<PromptPart>> chat_prompt(std::string_view chat_template,
                                            std::span<const ChatMessage> messages) {
  CLVET_RETURN_IF_ERROR(check_template(chat_template_name(chat_template)));
  std::vector<PromptPart> parts;
  bool has_system = false;
  for (const ChatMessage& message : messages) has_system |= message.role == "system";
  const std::string system = system_text_of(chat_template);
  if (!has_system && !system.empty()) add_turn({"system", system}, parts);
  for (const ChatMessage& message : messages) {
    if (message.role != "system" && message.role != "user" && message.role != "assistant") {
      return fail(ErrorCode::kInvalidArgument,
                  "the role of a message must be system, user or assistant, not '{}'",
                  message.role);
    }
    add_turn(message, parts);
  }
  parts.push_back({fmt::format("{}assistant\n", kTurn), true});
  return parts;
}

}  // namespace clvet
