// A language model that goes on with a text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clvet/abi.h"
#include "clvet/context.h"
#include "clvet/placement.h"
#include "clvet/result.h"

CLVET_ABI_BEGIN

struct LanguageOptions {
  std::string device = "auto";     // "auto", "host", an index, platform:index or part of a name
  std::string precision = "auto";  // "auto", "low", "normal" or "high"
  std::string memory = "auto";     // "auto", "low" (quantised weights) or "normal"
  std::string report;              // as in SessionOptions
  std::string state_dir;           // as in SessionOptions
  std::optional<Context> context;  // as in SessionOptions
  bool strict = false;             // an error, where a fallback is needed
  // Gets each warning as it comes, from the thread that generates.
  std::function<void(const std::string& text)> warning;
};

struct GenerateOptions {
  int64_t max_tokens = 128;
  double temperature = 0;  // 0: always the most likely token, and the rest does not matter
  int64_t top_k = 0;       // among the so many most likely ones; 0: all
  double top_p = 1;        // among the most likely ones whose probabilities add up to this; 1: all
  uint64_t seed = 0;       // the same one gives the same text
  // Gets the text piece by piece, whole UTF-8 characters each, from the thread that generates.
  // False: that is enough.
  std::function<bool(const std::string& piece)> on_text;
};

struct ChatTurn {
  std::string role;  // "system", "user" or "assistant"
  std::string text;
};

enum class Ending {
  end_of_text,  // the model has said all
  limit,        // max_tokens
  stopped,      // on_text said so
};
CLVET_API const char* to_string(Ending ending);

struct Generated {
  std::string text;  // what on_text got, joined
  std::vector<int32_t> prompt, tokens;
  Ending ending = Ending::limit;
};

// All calls may come from any thread; those that generate wait for each other, and each begins a
// text of its own. After a move, and in a child process after fork(), each gives an error.
class CLVET_API LanguageModel {
 public:
  // A GGUF file.
  static Result<LanguageModel> open(const std::string& path, const LanguageOptions& options = {});
  LanguageModel(LanguageModel&&) noexcept;
  LanguageModel& operator=(LanguageModel&&) noexcept;
  // Cancels what still generates, and waits for its end.
  ~LanguageModel();

  // invalid_argument: not valid UTF-8, or something that the model has no token for.
  Result<std::vector<int32_t>> tokenize(const std::string& text) const;
  // U+FFFD for tokens that the model does not have. Control tokens give nothing.
  Result<std::string> text_of(const std::vector<int32_t>& tokens) const;

  // The text that follows. cancelled: cancel() was called; what on_text got stays said.
  Result<Generated> generate(const std::string& prompt, const GenerateOptions& options = {});
  // invalid_argument: no tokens, or one that the model does not have.
  Result<Generated> generate(const std::vector<int32_t>& prompt,
                             const GenerateOptions& options = {});
  // The assistant's next turn. unsupported: the model has no chat template, or one that clvet does
  // not know.
  Result<Generated> chat(const std::vector<ChatTurn>& turns, const GenerateOptions& options = {});
  // Ends what generates at its next step, and what waits.
  void cancel();

  Result<Placement> placement() const;

 private:
  class Impl;
  explicit LanguageModel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
  template <class Ask>
  auto with(Ask&& ask) const -> decltype(ask(*impl_));
};

CLVET_ABI_END
