// The public language model: one text at a time, from any thread.
#include "clvet/language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "clvet/placement.h"
#include "clvet/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/api/context_impl.h"
#include "runtime/api/guarded.h"
#include "runtime/api/own_process.h"
#include "runtime/api/turns.h"
#include "runtime/api/user_calls.h"
#include "runtime/api/words.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/chat.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/text_stream.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/run/answer.h"
#include "runtime/run/language_session.h"
#include "runtime/run/model_file.h"

namespace clvet::v1 {
namespace {

using Tokens = std::vector<int32_t>;

}  // namespace

class LanguageModel::Impl {
 public:
  static ::clvet::Result<std::shared_ptr<Impl>> open(const std::string& path,
                                                     const LanguageOptions& options);
  ~Impl();

  const OwnProcess& process() const { return process_; }
  ::clvet::Result<Tokens> tokenize(const std::string& text) const;
  ::clvet::Result<std::string> text_of(const Tokens& tokens) const;
  ::clvet::Result<Tokens> tokens_of(const std::vector<ChatTurn>& turns) const;
  Result<Generated> generate(const ::clvet::Result<Tokens>& prompt, const GenerateOptions& options);
  void cancel() { turns_.cancel(); }
  Placement placement() const;

 private:
  Impl(GgufFile file, const LlmConfig& config, ::clvet::Result<Tokenizer> tokenizer,
       const LanguageOptions& options)
      : warnings_("LanguageOptions::warning", options.warning),
        file_(std::move(file)),
        config_(config),
        tokenizer_(std::move(tokenizer)) {}
  ::clvet::Result<::clvet::LanguageOptions> language_options(const std::string& path,
                                                             const LanguageOptions& options);
  Status check(const Tokens& prompt, const GenerateOptions& options) const;
  Status add(const Tokens& prompt, const GenerateOptions& options, Generated& out);
  void remember();

  const OwnProcess process_;
  Warnings warnings_;
  std::shared_ptr<ContextImpl> context_;  // null: the host alone
  const GgufFile file_;
  const LlmConfig config_;
  const ::clvet::Result<Tokenizer> tokenizer_;  // texts need it, token ids do not
  std::unique_ptr<LanguageSession> session_;
  mutable std::mutex placed_;
  Placement placement_;
  Turns turns_;
};

::clvet::Result<::clvet::LanguageOptions> LanguageModel::Impl::language_options(
    const std::string& path, const LanguageOptions& options) {
  ::clvet::LanguageOptions words;
  CLVET_ASSIGN_OR_RETURN(words.words.precision, precision_named(options.precision));
  CLVET_ASSIGN_OR_RETURN(words.words.memory, memory_named(options.memory));
  words.sink = [this](const Event& event) { warnings_(event); };
  words.cancelled = turns_.stop();
  CLVET_ASSIGN_OR_RETURN(context_, take_options(options, words));
  if (context_) {
    CLVET_ASSIGN_OR_RETURN(words.model_key, sha256_of_ends(path));
  }
  return words;
}

::clvet::Result<std::shared_ptr<LanguageModel::Impl>> LanguageModel::Impl::open(
    const std::string& path, const LanguageOptions& options) {
  CLVET_RETURN_IF_ERROR(check_model_file(path));
  CLVET_ASSIGN_OR_RETURN(GgufFile file, GgufFile::open(path));
  CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
  auto tokenizer = Tokenizer::create(file.metadata());
  auto impl = of_own_process(new Impl(std::move(file), config, std::move(tokenizer), options));
  CLVET_ASSIGN_OR_RETURN(auto words, impl->language_options(path, options));
  const ::clvet::Report* report = impl->context_ ? impl->context_->report() : nullptr;
  CLVET_ASSIGN_OR_RETURN(
      impl->session_, LanguageSession::open(impl->file_, impl->config_, report, std::move(words)));
  impl->remember();
  return impl;
}

LanguageModel::Impl::~Impl() {
  turns_.close();
  if (session_) session_->note();
}

void LanguageModel::Impl::remember() {
  const LanguageRecord& record = session_->record();
  const std::lock_guard lock(placed_);
  placement_ = {record.device, ::clvet::to_string(record.combination.precision), record.warnings,
                0};
}

Placement LanguageModel::Impl::placement() const {
  const std::lock_guard lock(placed_);
  return placement_;
}

::clvet::Result<Tokens> LanguageModel::Impl::tokenize(const std::string& text) const {
  if (!tokenizer_) return tl::unexpected(tokenizer_.error());
  return tokenizer_->encode(text);
}

::clvet::Result<std::string> LanguageModel::Impl::text_of(const Tokens& tokens) const {
  if (!tokenizer_) return tl::unexpected(tokenizer_.error());
  TextStream stream(*tokenizer_);
  std::string text;
  for (const int32_t token : tokens) text += stream.push(token);
  return text + stream.finish();
}

::clvet::Result<Tokens> LanguageModel::Impl::tokens_of(const std::vector<ChatTurn>& turns) const {
  if (!tokenizer_) return tl::unexpected(tokenizer_.error());
  std::vector<ChatMessage> messages;
  for (const ChatTurn& turn : turns) {
    if (turn.role != "system" && turn.role != "user" && turn.role != "assistant") {
      return fail(::clvet::ErrorCode::kInvalidArgument,
                  "there is no role '{}': it is system, user or assistant", clean_utf8(turn.role));
    }
    messages.push_back({turn.role, turn.text});
  }
  if (messages.empty()) return fail(::clvet::ErrorCode::kInvalidArgument, "there are no turns");
  const auto text = file_.metadata().string("tokenizer.chat_template");
  CLVET_ASSIGN_OR_RETURN(const auto parts, chat_prompt(text ? *text : "", messages));
  return tokenizer_->encode(parts);
}

Status LanguageModel::Impl::check(const Tokens& prompt, const GenerateOptions& options) const {
  const auto refuse = [](ErrorCode code, std::string why) { return Error{code, std::move(why)}; };
  const auto count = static_cast<int64_t>(prompt.size());
  if (options.max_tokens < 1)
    return refuse(ErrorCode::invalid_argument,
                  fmt::format("max_tokens is {}: ask for 1 or more", options.max_tokens));
  if (count == 0) return refuse(ErrorCode::invalid_argument, "the prompt has no tokens");
  if (count > config_.context)
    return refuse(ErrorCode::resource_exhausted,
                  fmt::format("the prompt of {} tokens exceeds the model's context of {}", count,
                              config_.context));
  for (const int32_t token : prompt) {
    if (token >= 0 && token < config_.vocab) continue;
    return refuse(ErrorCode::invalid_argument,
                  fmt::format("the prompt has the token {}: the model's are 0 to {}", token,
                              config_.vocab - 1));
  }
  return {};
}

Status LanguageModel::Impl::add(const Tokens& prompt, const GenerateOptions& options,
                                Generated& out) {
  UserCalls user("GenerateOptions::on_text");
  bool enough = false;
  const auto room = config_.context - static_cast<int64_t>(prompt.size()) + 1;
  const AnswerOptions words{
      .tokens = std::min(options.max_tokens, room),
      .sampler = {options.temperature, options.top_k, options.top_p, options.seed},
      .tokenizer = tokenizer_ ? &*tokenizer_ : nullptr,
      .say =
          [&](std::string_view piece) {
            if (!options.on_text || piece.empty() || enough) return;
            user([&] { enough = !options.on_text(std::string(piece)); });
          },
      .stop = [&] { return enough || user.threw(); },
      .sink = [](const Event&) {}};
  session_->restart();
  auto said = ::clvet::answer(*session_, prompt, words);
  remember();
  if (const Status told = user.take_fault(); !told) return told;
  if (const Status told = warnings_.take_fault(); !told) return told;
  if (!said) return public_error(said.error());
  const bool full = static_cast<int64_t>(said->tokens.size()) >= words.tokens;
  out = {std::move(said->text), std::move(said->prompt), std::move(said->tokens),
         enough ? Ending::stopped : (full ? Ending::limit : Ending::end_of_text)};
  return {};
}

Result<Generated> LanguageModel::Impl::generate(const ::clvet::Result<Tokens>& prompt,
                                                const GenerateOptions& options) {
  if (!prompt) return public_error(prompt.error());
  if (const Status sound = check(*prompt, options); !sound) return sound.error();
  Generated out;
  const Status done = turns_.now([&] { return add(*prompt, options, out); });
  if (!done) return done.error();
  return out;
}

const char* to_string(Ending ending) {
  switch (ending) {
    case Ending::end_of_text:
      return "end of text";
    case Ending::limit:
      return "limit";
    case Ending::stopped:
      break;
  }
  return "stopped";
}

LanguageModel::LanguageModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
LanguageModel::LanguageModel(LanguageModel&&) noexcept = default;
LanguageModel& LanguageModel::operator=(LanguageModel&&) noexcept = default;
LanguageModel::~LanguageModel() = default;

Result<LanguageModel> LanguageModel::open(const std::string& path, const LanguageOptions& options) {
  return guarded([&]() -> Result<LanguageModel> {
    auto impl = Impl::open(path, options);
    if (!impl) return public_error(impl.error());
    return LanguageModel(std::move(*impl));
  });
}

template <class Ask>
auto LanguageModel::with(Ask&& ask) const -> decltype(ask(*impl_)) {
  return asked_of(impl_, "language model", std::forward<Ask>(ask));
}

Result<std::vector<int32_t>> LanguageModel::tokenize(const std::string& text) const {
  return with([&](Impl& impl) { return to_public(impl.tokenize(text)); });
}

Result<std::string> LanguageModel::text_of(const std::vector<int32_t>& tokens) const {
  return with([&](Impl& impl) { return to_public(impl.text_of(tokens)); });
}

Result<Generated> LanguageModel::generate(const std::string& prompt,
                                          const GenerateOptions& options) {
  return with([&](Impl& impl) { return impl.generate(impl.tokenize(prompt), options); });
}

Result<Generated> LanguageModel::generate(const std::vector<int32_t>& prompt,
                                          const GenerateOptions& options) {
  return with([&](Impl& impl) { return impl.generate(prompt, options); });
}

Result<Generated> LanguageModel::chat(const std::vector<ChatTurn>& turns,
                                      const GenerateOptions& options) {
  return with([&](Impl& impl) { return impl.generate(impl.tokens_of(turns), options); });
}

void LanguageModel::cancel() {
  static_cast<void>(with([](Impl& impl) -> Status {
    impl.cancel();
    return {};
  }));
}

Result<Placement> LanguageModel::placement() const {
  return with([](Impl& impl) -> Result<Placement> { return impl.placement(); });
}

}  // namespace clvet::v1
