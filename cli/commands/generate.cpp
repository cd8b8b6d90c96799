#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/combination_options.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/isolate.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/worker/worker_limits.h"
#include "reports/render/plan_text.h"
#include "runtime/exec/generate_record.h"
#include "runtime/exec/language_session.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/chat.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/sampler.h"
#include "runtime/llm/teacher_forced.h"
#include "runtime/llm/text_stream.h"
#include "runtime/llm/tokenizer.h"

namespace clvet::command_generate {
namespace {

struct GenerateArguments {
  std::string model, prompt, prompt_ids, teacher_forced, report, system;
  bool chat = false, isolate = false;
  int64_t tokens = 128;
  CombinationArguments combination;
  std::string plan;
  bool explain = false;
  SamplerOptions sampler;
  LanguageOptions options;
  OutputOptions output;
};

// The cases of the kernels that a language model needs: all that is tried before its first token,
// where nothing is known of this machine yet.
std::vector<std::string> needs_of(const LlmConfig& config) {
  std::vector<std::string> patterns;
  for (const std::string& op : decoder_ops(config)) patterns.push_back(op + "_*");
  return patterns;
}

Result<std::vector<int32_t>> read_ids(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(path, size_t{1} << 24));
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

Result<std::vector<int32_t>> prompt_of(const GenerateArguments& arguments, const GgufFile& file,
                                       const Tokenizer& tokenizer) {
  if (!arguments.chat) return tokenizer.encode(arguments.prompt);
  std::vector<ChatMessage> messages;
  if (!arguments.system.empty()) messages.push_back({"system", arguments.system});
  messages.push_back({"user", arguments.prompt});
  const auto text = file.metadata().string("tokenizer.chat_template");
  CLVET_ASSIGN_OR_RETURN(const auto parts, chat_prompt(text ? *text : "", messages));
  return tokenizer.encode(parts);
}

// Our own stdout, which a driver's banners do not reach.
class Paper {
 public:
  explicit Paper(bool quiet) : fd_(quiet ? -1 : ::dup(STDOUT_FILENO)), terminal_(::isatty(1)) {}
  void write(std::string_view text) const {
    const std::string clean = terminal_ ? clean_utf8(text) : std::string(text);
    for (size_t at = 0; fd_.get() >= 0 && at < clean.size();) {
      const ssize_t wrote = ::write(fd_.get(), clean.data() + at, clean.size() - at);
      if (wrote <= 0) return;
      at += static_cast<size_t>(wrote);
    }
  }

 private:
  UniqueFd fd_;
  bool terminal_;
};

Result<Answer> answer(const GenerateArguments& arguments, LanguageSession& session,
                      const Tokenizer* tokenizer, std::vector<int32_t> prompt, const Paper& paper) {
  CLVET_ASSIGN_OR_RETURN(const Sampler sampler, Sampler::create(arguments.sampler));
  Answer out;
  out.prompt = std::move(prompt);
  double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(auto logits, session.take(out.prompt, [&](size_t done) {
    arguments.options.sink(
        {EventLevel::kProgress, fmt::format("prompt: {} of {} tokens", done, out.prompt.size())});
  }));
  out.prompt_ms = (monotonic_seconds() - started) * 1e3;
  end_progress();
  started = monotonic_seconds();
  std::optional<TextStream> stream;
  if (tokenizer) stream.emplace(*tokenizer);
  const auto say = [&](const std::string& piece) {
    out.text += piece;
    paper.write(piece);
  };
  for (int64_t i = 0; i < arguments.tokens; ++i) {
    CLVET_ASSIGN_OR_RETURN(const int32_t next, sampler.pick(logits, static_cast<uint64_t>(i)));
    if (tokenizer && tokenizer->ends(next)) break;
    out.tokens.push_back(next);
    say(stream ? stream->push(next) : fmt::format("{}{}", i ? " " : "", next));
    if (interrupt_requested.load()) {
      out.interrupted = true;
      break;
    }
    if (i + 1 == arguments.tokens) break;
    auto more = session.take(std::span(&out.tokens.back(), 1));
    if (!more) {
      say(stream ? stream->finish() : "");
      paper.write("\n");
      return tl::unexpected(more.error());
    }
    logits = std::move(*more);
  }
  if (stream) say(stream->finish());
  paper.write("\n");
  out.tokens_ms = (monotonic_seconds() - started) * 1e3;
  return out;
}

double a_second(size_t count, double ms) {
  return ms > 0 ? static_cast<double>(count) / ms * 1e3 : 0;
}

Result<int> compare(const GenerateArguments& arguments, LanguageSession& session,
                    const std::vector<TeacherForcedCase>& cases, const Paper& paper) {
  const TeacherForcedModel model{
      [&] { session.restart(); },
      [&](std::span<const int32_t> tokens) { return session.take(tokens); }};
  CLVET_ASSIGN_OR_RETURN(const TeacherForcedCount count,
                         compare_teacher_forced(cases, model, arguments.options.sink));
  end_progress();
  const LanguageRecord& record = session.record();
  paper.write(fmt::format("on {} with {}\n", record.device, to_string(record.combination)));
  if (count.exact_of > 0) {
    paper.write(fmt::format("float32 argmax: {} of {} where its margin > {}\n", count.exact,
                            count.exact_of, kExactMargin));
  }
  paper.write(
      fmt::format("teacher-forced: {} of {} where margin > {}\n", count.right, count.of, kMargin));
  return count.right < count.of ? kExitFindings : kExitFine;
}

Result<int> go_on(const GenerateArguments& arguments, LanguageSession& session,
                  const Tokenizer* tokenizer, std::vector<int32_t> prompt, const Paper& paper) {
  CLVET_ASSIGN_OR_RETURN(Answer said,
                         answer(arguments, session, tokenizer, std::move(prompt), paper));
  const LanguageRecord& record = session.record();
  if (!said.tokens.empty()) {
    if (const auto ms = session.device_ms_of_a_token(said.tokens.back())) said.device_ms = *ms;
  }
  const std::string work = said.device_ms
                               ? fmt::format("{} launches and {:.2f} ms of the device a token; ",
                                             record.nodes.size(), *said.device_ms)
                               : "";
  arguments.options.sink(
      {EventLevel::kInfo,
       fmt::format("{} with {}: {}prompt of {} tokens at {:.1f} a second, "
                   "{} more at {:.1f} a second",
                   record.device, to_string(record.combination), work, said.prompt.size(),
                   a_second(said.prompt.size(), said.prompt_ms), said.tokens.size(),
                   a_second(said.tokens.empty() ? 0 : said.tokens.size() - 1, said.tokens_ms))});
  CLVET_RETURN_IF_ERROR(
      write_document(arguments.output, generate_record_to_json(arguments.model, record, said)));
  return said.interrupted ? kExitInterrupted : kExitFine;
}

Result<int> run_once(GenerateArguments& arguments) {
  const Paper paper(arguments.output.quiet || arguments.output.json == "-");
  CLVET_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
  std::optional<Tokenizer> tokenizer;
  std::vector<TeacherForcedCase> cases;
  std::vector<int32_t> prompt;
  if (!arguments.teacher_forced.empty()) {
    CLVET_ASSIGN_OR_RETURN(cases, read_teacher_forced(arguments.teacher_forced));
  } else if (!arguments.prompt_ids.empty()) {
    CLVET_ASSIGN_OR_RETURN(prompt, read_ids(arguments.prompt_ids));
  } else {
    CLVET_ASSIGN_OR_RETURN(tokenizer, Tokenizer::create(file.metadata()));
    CLVET_ASSIGN_OR_RETURN(prompt, prompt_of(arguments, file, *tokenizer));
  }
  if (!arguments.plan.empty()) {
    CLVET_ASSIGN_OR_RETURN(arguments.options.plan, read_plan(arguments.plan));
    CLVET_ASSIGN_OR_RETURN(arguments.options.model_key, sha256_of_file(arguments.model));
  }
  std::optional<Report> report;
  if (arguments.options.device != "host") {
    CLVET_ASSIGN_OR_RETURN(
        report, current_report(arguments.report, arguments.options.sink, needs_of(config)));
  }
  const StdoutGuard quiet_driver;
  CLVET_ASSIGN_OR_RETURN(
      const auto session,
      LanguageSession::open(file, config, report ? &*report : nullptr, arguments.options));
  if (arguments.explain && !arguments.output.quiet) {
    arguments.options.sink({EventLevel::kInfo, plan_text(session->plan())});
  }
  if (!cases.empty()) return compare(arguments, *session, cases, paper);
  return go_on(arguments, *session, tokenizer ? &*tokenizer : nullptr, std::move(prompt), paper);
}

int run(GenerateArguments& arguments) {
  arguments.options.sink = terminal_sink(arguments.output.quiet);
  arguments.options.words = arguments.combination.overrides();
  catch_interrupts();
  if (arguments.isolate) return run_isolated(arguments.options.sink);
  const auto code = run_once(arguments);
  end_progress();
  if (code) return *code;
  const bool refused = arguments.options.strict && code.error().code == ErrorCode::kUnavailable;
  const int reported = report_error(code.error());
  return refused ? kExitFindings : reported;
}

void add_words(Verb verb, GenerateArguments& arguments) {
  verb.add_option("--device", arguments.options.device,
                  "auto, host, index, platform:index or part of a name")
      .type_name("SEL")
      .shows_default();
  add_combination(verb, arguments.combination, {"auto", "buffer"});
  add_plan_option(verb, arguments.plan);
  verb.add_flag("--explain", arguments.explain, "say which kernels run, and why not others");
  verb.add_flag("--strict", arguments.options.strict, "fail (exit 1) where a fallback is needed");
  verb.add_flag("--isolate", arguments.isolate, "run in a child process");
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand("generate", "let a language model go on from a prompt");
  auto arguments = std::make_shared<GenerateArguments>();
  verb.add_option("model", arguments->model, "GGUF file").required().type_name("MODEL.gguf");
  Verb source = verb.add_option_group("what to go on from");
  source.add_option("--prompt", arguments->prompt, "text").type_name("TEXT");
  source
      .add_option("--prompt-ids", arguments->prompt_ids, "a JSON array of token ids; ids come out")
      .type_name("FILE");
  source
      .add_option("--teacher-forced", arguments->teacher_forced,
                  "compare with the tokens that another program chose; exit 1: some differ")
      .type_name("FILE");
  source.require_option(1);
  verb.add_flag("--chat", arguments->chat, "the prompt is a user's turn, by the model's template");
  verb.add_option("--system", arguments->system, "with --chat: what the model is told first")
      .type_name("TEXT");
  verb.add_option("-n", arguments->tokens, "the most tokens to add")
      .within(1, 1 << 20)
      .shows_default();
  verb.add_option("--temperature", arguments->sampler.temperature, "0: always the likeliest token")
      .shows_default();
  verb.add_option("--top-k", arguments->sampler.top_k, "0: all").shows_default();
  verb.add_option("--top-p", arguments->sampler.top_p).shows_default();
  verb.add_option("--seed", arguments->sampler.seed).shows_default();
  verb.add_option("--report", arguments->report, "report file (default: in the state folder)")
      .type_name("FILE");
  add_words(verb, *arguments);
  verb.add_option("--json", arguments->output.json, "write clvet.generate/1 there; - is stdout")
      .type_name("FILE|-");
  verb.add_flag("--quiet", arguments->output.quiet, "no text, no progress");
  verb.footer(
      "Exit: 0 text generated, 1 --strict and a fallback was needed, or a token differs from\n"
      "--teacher-forced, 2 usage or bad file, 3 another probe is running, 130 interrupted.\n"
      "Examples:\n"
      "  clvet generate model.gguf --prompt \"The capital of France is\" -n 32\n"
      "  clvet generate model.gguf --chat --prompt \"Why is the sky blue?\" --temperature 0.7 "
      "--top-p 0.9\n"
      "  clvet generate model.gguf --teacher-forced golden.json --device host");
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_generate
