#include "cli/prompt_inputs.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/calibration.h"
#include "cli/options.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/teacher_forced.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "runtime/precision/diagnose_language.h"

namespace clvet {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{1} << 24;

// A text's beginning, on one line.
std::string name_of(const std::string& text) {
  constexpr size_t kMost = 40;
  std::string name = text.substr(0, kMost);
  for (char& c : name) c = c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  if (text.size() <= kMost) return name;
  // Not within a character of several bytes.
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end) + "...";
}

class PromptReader {
 public:
  PromptReader(const PromptArguments& arguments, const Tokenizer& tokenizer,
               const LlmConfig& config)
      : arguments_(arguments), tokenizer_(tokenizer), config_(config) {}

  Status take_options() {
    for (const std::string& text : arguments_.texts) {
      auto tokens = encode(text);
      if (!tokens) return wrap(tokens.error(), "--prompt");
      inputs_.push_back({name_of(text), std::move(*tokens)});
    }
    if (!arguments_.ids.empty()) {
      CLVET_ASSIGN_OR_RETURN(auto ids, read_token_ids(arguments_.ids));
      inputs_.push_back({arguments_.ids, without_bos(std::move(ids))});
    }
    return arguments_.teacher_forced.empty() ? Status{} : take_cases();
  }

  Status take_folder(const std::string& folder, std::vector<std::string>& left_out) {
    const auto take = [this](const fs::path& entry) -> Status {
      CLVET_ASSIGN_OR_RETURN(auto tokens, read(entry));
      inputs_.push_back({entry.filename().string(), std::move(tokens)});
      return {};
    };
    CLVET_RETURN_IF_ERROR(take_entries(folder, take, left_out));
    return inputs_.empty() ? Status(nothing_taken(folder, left_out)) : Status();
  }

  std::vector<LanguageInput> take() { return std::move(inputs_); }

 private:
  // The reference's choices as they are fed in: the last one is not.
  Status take_cases() {
    CLVET_ASSIGN_OR_RETURN(auto cases, read_teacher_forced(arguments_.teacher_forced));
    for (size_t i = 0; i < cases.size(); ++i) {
      std::vector<int32_t> tokens = without_bos(std::move(cases[i].prompt));
      const auto& chosen = cases[i].chosen;
      if (!chosen.empty()) tokens.insert(tokens.end(), chosen.begin(), chosen.end() - 1);
      inputs_.push_back({fmt::format("cases[{}]", i), std::move(tokens)});
    }
    return {};
  }

  // The line break at the end of a file belongs to the file.
  Result<std::vector<int32_t>> read(const fs::path& entry) const {
    std::error_code error;
    if (!fs::is_regular_file(entry, error))
      return fail(ErrorCode::kInvalidArgument, "it is not a file");
    CLVET_ASSIGN_OR_RETURN(std::string text, read_file(entry.string(), kMostBytes));
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    CLVET_ASSIGN_OR_RETURN(auto tokens, encode(text));
    const std::string misfit = misfit_of(config_, tokens);
    if (!misfit.empty()) return fail(ErrorCode::kInvalidArgument, "{}", misfit);
    return tokens;
  }

  Result<std::vector<int32_t>> encode(const std::string& text) const {
    if (text.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt is empty");
    CLVET_ASSIGN_OR_RETURN(auto tokens, tokenizer_.encode(text));
    return without_bos(std::move(tokens));
  }

  // A model that wants no such token may have it in a text as any other.
  std::vector<int32_t> without_bos(std::vector<int32_t> tokens) const {
    const Vocabulary& words = tokenizer_.vocabulary();
    if (arguments_.no_bos && words.add_bos && !tokens.empty() && tokens.front() == words.bos)
      tokens.erase(tokens.begin());
    return tokens;
  }

  const PromptArguments& arguments_;
  const Tokenizer& tokenizer_;
  const LlmConfig& config_;
  std::vector<LanguageInput> inputs_;
};

}  // namespace

void add_prompt_inputs(Verb verb, PromptArguments& arguments) {
  verb.add_option("--prompt", arguments.texts,
                  "language models: a text; may be given several times")
      .type_name("TEXT")
      .one_each();
  verb.add_option("--prompt-ids", arguments.ids,
                  "language models: a text as a JSON array of token ids")
      .type_name("FILE");
  verb.add_option("--teacher-forced", arguments.teacher_forced,
                  "language models: prompts and the tokens that another program chose behind them")
      .type_name("FILE");
  verb.add_flag("--no-bos", arguments.no_bos,
                "language models: texts begin without the token that the model wants there");
}

Result<std::vector<LanguageInput>> read_prompt_inputs(const PromptArguments& arguments,
                                                      const std::string& folder,
                                                      const GgufFile& file, const LlmConfig& config,
                                                      std::vector<std::string>& left_out) {
  CLVET_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::create(file.metadata()));
  PromptReader reader(arguments, tokenizer, config);
  CLVET_RETURN_IF_ERROR(reader.take_options());
  if (!folder.empty()) CLVET_RETURN_IF_ERROR(reader.take_folder(folder, left_out));
  std::vector<LanguageInput> inputs = reader.take();
  if (!inputs.empty()) return inputs;
  return fail(ErrorCode::kInvalidArgument,
              "give a language model a text: --prompt TEXT, --prompt-ids FILE, --teacher-forced "
              "FILE or --calibration DIR");
}

Result<std::vector<int32_t>> read_token_ids(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMostBytes));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  std::vector<int32_t> ids;
  for (const auto& row : json.is_array() ? json : nlohmann::json::array()) {
    if (!row.is_number_integer() || row < 0 || row > INT32_MAX) break;
    ids.push_back(row.get<int32_t>());
  }
  if (!json.is_array() || ids.empty() || ids.size() != json.size()) {
    return fail(ErrorCode::kInvalidArgument, "{}: not a JSON array of token ids, e.g. [1, 2, 3]",
                path);
  }
  return ids;
}

}  // namespace clvet
