#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/language.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/combination_options.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/isolate.h"
#include "cli/model_file.h"
#include "cli/options.h"
#include "cli/prompt_inputs.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/worker/worker_limits.h"
#include "reports/render/plan_text.h"
#include "runtime/exec/flight.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/chat.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/sampler.h"
#include "runtime/llm/teacher_forced.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/run/answer.h"
#include "runtime/run/generate_record.h"
#include "runtime/run/language_session.h"
#include "runtime/run/resumed_text.h"

namespace clvet::command_generate {
namespace {

struct GenerateArguments {
  std::string model, prompt, prompt_ids, teacher_forced, report, system;
  bool chat = false;
  GuardOptions guard;
  int64_t tokens = 128;
  CombinationArguments combination;
  std::string plan;
  bool explain = false;
  SamplerOptions sampler;
  LanguageOptions options;
  OutputOptions output;
};

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
class Page {
 public:
  explicit Page(bool quiet)
      : fd_(quiet ? -1 : ::dup(STDOUT_FILENO)),
        terminal_(::isatty(1)),
        said_(said_before()),
        text_(said_) {}
  void write(std::string_view text) {
    print(text_.next(terminal_ ? clean_utf8(text) : std::string(text)));
  }
  // No more comes.
  void end() { print(text_.rest()); }
  Status written() const { return written_to_stdout(fault_); }

 private:
  void print(const std::string& text) {
    for (size_t at = 0; fd_.get() >= 0 && at < text.size();) {
      const ssize_t wrote = ::write(fd_.get(), text.data() + at, text.size() - at);
      if (wrote < 0) fault_ = errno;
      if (wrote <= 0) return;
      at += static_cast<size_t>(wrote);
    }
    said_.add(text);
    say_said(said_);
  }

  UniqueFd fd_;
  int fault_ = 0;  // errno of a write
  bool terminal_;
  SaidText said_;
  ResumedText text_;
};

double a_second(size_t count, double ms) {
  return ms > 0 ? static_cast<double>(count) / ms * 1e3 : 0;
}

// What is to be told at the end, when standard output is ours again.
struct Told {
  int code = kExitFine;
  std::string record;  // empty: there is none
};

Result<Told> compare(const GenerateArguments& arguments, LanguageSession& session,
                     const std::vector<TeacherForcedCase>& cases, Page& page) {
  const TeacherForcedModel model{
      [&] { session.restart(); },
      [&](std::span<const int32_t> tokens) { return session.take(tokens); }};
  CLVET_ASSIGN_OR_RETURN(const TeacherForcedCount count,
                         compare_teacher_forced(cases, model, arguments.options.sink));
  end_progress();
  const LanguageRecord& record = session.record();
  page.write(tr("on {} with {}", record.device, to_string(record.combination)) + "\n");
  if (count.exact_of > 0) {
    page.write(tr("float32 argmax: {} of {} where its margin > {}", count.exact, count.exact_of,
                  kExactMargin) +
               "\n");
  }
  page.write(tr("teacher-forced: {} of {} where margin > {}", count.right, count.of, kMargin) +
             "\n");
  return Told{count.right < count.of ? kExitFindings : kExitFine, {}};
}

std::string summary_of(const LanguageRecord& record, const Answer& said) {
  std::string text =
      tr("{} with {}: prompt of {} tokens at {:.1f} tokens/s, {} more tokens at {:.1f} tokens/s",
         record.device, to_string(record.combination), said.prompt.size(),
         a_second(said.prompt.size(), said.prompt_ms), said.tokens.size(),
         a_second(said.tokens.empty() ? 0 : said.tokens.size() - 1, said.tokens_ms));
  if (said.device_ms) {
    text += "\n" + tr("each token: {} kernel launches, {:.2f} ms of device time",
                      record.nodes.size(), *said.device_ms);
  }
  return text;
}

Result<Told> resume(const GenerateArguments& arguments, LanguageSession& session,
                    const Tokenizer* tokenizer, std::vector<int32_t> prompt, Page& page) {
  bool begun = false;
  const AnswerOptions options{.tokens = arguments.tokens,
                              .sampler = arguments.sampler,
                              .tokenizer = tokenizer,
                              .say =
                                  [&](std::string_view piece) {
                                    begun = true;
                                    page.write(piece);
                                  },
                              .stop = [] { return interrupt_requested.load(); },
                              .sink = arguments.options.sink};
  auto done = answer(session, std::move(prompt), options);
  if (done || begun) page.write("\n");
  CLVET_ASSIGN_OR_RETURN(Answer said, std::move(done));
  page.end();
  const LanguageRecord& record = session.record();
  if (!said.tokens.empty()) {
    if (const auto ms = session.device_ms_of_a_token(said.tokens.back())) said.device_ms = *ms;
  }
  if (arguments.output.json != "-")
    arguments.options.sink({EventLevel::kInfo, summary_of(record, said)});
  return Told{said.interrupted ? kExitInterrupted : kExitFine,
              generate_record_to_json(arguments.model, record, said)};
}

// What the model goes on from.
struct Source {
  std::optional<Tokenizer> tokenizer;  // of a prompt that is text
  std::vector<int32_t> prompt;
  std::vector<TeacherForcedCase> cases;  // instead of a prompt
};

Result<Source> read_source(const GenerateArguments& arguments, const GgufFile& file) {
  Source source;
  if (!arguments.teacher_forced.empty()) {
    CLVET_ASSIGN_OR_RETURN(source.cases, read_teacher_forced(arguments.teacher_forced));
  } else if (!arguments.prompt_ids.empty()) {
    CLVET_ASSIGN_OR_RETURN(source.prompt, read_token_ids(arguments.prompt_ids));
  } else {
    CLVET_ASSIGN_OR_RETURN(source.tokenizer, Tokenizer::create(file.metadata()));
    CLVET_ASSIGN_OR_RETURN(source.prompt, prompt_of(arguments, file, *source.tokenizer));
  }
  return source;
}

Status take_plan(GenerateArguments& arguments) {
  if (arguments.plan.empty()) return {};
  CLVET_ASSIGN_OR_RETURN(arguments.options.plan, read_plan(arguments.plan));
  CLVET_ASSIGN_OR_RETURN(arguments.options.model_key, sha256_of_file(arguments.model));
  return {};
}

Result<Told> tell(GenerateArguments& arguments) {
  Page page(arguments.output.quiet || arguments.output.json == "-");
  CLVET_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
  CLVET_ASSIGN_OR_RETURN(Source source, read_source(arguments, file));
  CLVET_RETURN_IF_ERROR(take_plan(arguments));
  std::optional<Report> report;
  if (arguments.options.device != "host") {
    CLVET_ASSIGN_OR_RETURN(
        report, current_report(arguments.report, arguments.options.sink, needs_of(config)));
    if (arguments.options.model_key.empty()) {
      CLVET_ASSIGN_OR_RETURN(arguments.options.model_key, sha256_of_ends(arguments.model));
    }
    arguments.options.state_dir = state_dir();
    CLVET_RETURN_IF_ERROR(check_private(arguments.options.state_dir));
    if (wants_isolation(*report))
      return Told{run_isolated(arguments.guard, arguments.options.strict, arguments.options.sink),
                  {}};
  }
  const ProcessGuard process_guard;
  CLVET_ASSIGN_OR_RETURN(
      auto opened,
      LanguageSession::open(file, config, report ? &*report : nullptr, arguments.options));
  // A driver may die when it is released: that is left to the end of the process.
  LanguageSession& session = *opened.release();
  if (arguments.explain && !arguments.output.quiet)
    arguments.options.sink({EventLevel::kInfo, plan_text(session.plan())});
  const Tokenizer* tokenizer = source.tokenizer ? &*source.tokenizer : nullptr;
  auto told = source.cases.empty()
                  ? resume(arguments, session, tokenizer, std::move(source.prompt), page)
                  : compare(arguments, session, source.cases, page);
  session.note();
  if (told) CLVET_RETURN_IF_ERROR(page.written());
  return told;
}

Result<int> run_once(GenerateArguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(const Told told, tell(arguments));
  if (!told.record.empty()) CLVET_RETURN_IF_ERROR(write_document(arguments.output, told.record));
  return told.code;
}

int run(GenerateArguments& arguments) {
  arguments.options.sink = verb_sink(arguments.output.quiet);
  arguments.options.words = arguments.combination.overrides();
  catch_interrupts();
  adopt_orphans();
  arguments.options.self_check = arguments.guard.rate();
  if (arguments.guard.isolate)
    return run_isolated(arguments.guard, arguments.options.strict, arguments.options.sink);
  const auto code = run_once(arguments);
  end_progress();
  if (code) return *code;
  const bool refused = arguments.options.strict && code.error().code == ErrorCode::kUnavailable;
  const int reported = report_error(code.error());
  return refused ? kExitFindings : reported;
}

void add_prompts(Verb verb, GenerateArguments& arguments) {
  Verb source = verb.add_option_group("Prompt");
  source.add_option("--prompt", arguments.prompt, "the text to continue").type_name("TEXT");
  source
      .add_option("--prompt-ids", arguments.prompt_ids,
                  "a JSON array of token ids to continue; prints token ids, too")
      .type_name("FILE");
  source
      .add_option("--teacher-forced", arguments.teacher_forced,
                  "compare with the tokens that another program chose; exit status 1 if some "
                  "differ")
      .type_name("FILE");
  source.require_option(1);
  verb.add_flag("--chat", arguments.chat,
                "the prompt is a user's message; put it into the model's chat template");
  verb.add_option("--system", arguments.system, "with --chat: the system message before it")
      .type_name("TEXT");
}

void add_sampling(Verb verb, GenerateArguments& arguments) {
  verb.add_option("-n", arguments.tokens, "generate at most this many tokens")
      .within(1, 1 << 20)
      .shows_default();
  SamplerOptions& sampler = arguments.sampler;
  verb.add_option("--temperature", sampler.temperature,
                  "randomness; 0: always take the most likely token")
      .shows_default();
  verb.add_option("--top-k", sampler.top_k, "sample among the K most likely tokens; 0: all")
      .shows_default();
  verb.add_option("--top-p", sampler.top_p,
                  "sample among the most likely tokens whose probabilities add up to this; 1: all")
      .shows_default();
  verb.add_option("--seed", sampler.seed,
                  "seed of the random numbers; the same seed gives the same text")
      .shows_default();
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand("generate", "generate text with a language model");
  auto arguments = std::make_shared<GenerateArguments>();
  verb.add_option("model", arguments->model, "GGUF file")
      .required()
      .type_name("MODEL")
      .fits(fault_of_language_model);
  add_prompts(verb, *arguments);
  add_sampling(verb, *arguments);
  add_report(verb, arguments->report);
  add_device(verb, arguments->options.device);
  add_combination(verb, arguments->combination, {"auto", "buffer"});
  add_plan_option(verb, arguments->plan);
  add_strict(verb, arguments->options.strict);
  add_threads(verb);
  add_guard(verb, arguments->guard);
  verb.add_flag("--explain", arguments->explain,
                "print which kernels run, which combinations were not taken, and why");
  add_output(verb, arguments->output,
             "also write the record (clvet.generate/1) to this file; - is standard output");
  verb.footer(
      "Exit status: 0 done, 1 --strict and a fallback was needed, or --teacher-forced and tokens "
      "differ,\n"
      "2 wrong usage or a bad file, 3 no device that --device means, 5 another clvet probe is "
      "running, 130 interrupted.\n"
      "If this machine has no report for its drivers, the kernels that are needed are tried first.",
      {"clvet generate model.gguf --prompt \"The capital of France is\" -n 32",
       "clvet generate model.gguf --chat --prompt \"Why is the sky blue?\" --temperature 0.7 "
       "--top-p 0.9",
       "clvet generate model.gguf --teacher-forced golden.json --device host"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_generate
