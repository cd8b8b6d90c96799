#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/processors.h"
#include "base/result.h"
#include "cli/combination_options.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/input_files.h"
#include "cli/interrupt.h"
#include "cli/isolate.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "probe/worker/worker_limits.h"
#include "reports/render/bench_text.h"
#include "runtime/gguf/file.h"
#include "runtime/graph/extents.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/onnx/reader.h"
#include "runtime/plan/plan.h"
#include "runtime/run/bench_language.h"
#include "runtime/run/bench_record.h"
#include "runtime/run/language_session.h"
#include "runtime/run/model_file.h"
#include "runtime/run/profile.h"
#include "runtime/run/random_inputs.h"
#include "runtime/run/run_model.h"
#include "runtime/run/run_record.h"

namespace clvet::command_bench {
namespace {

struct BenchArguments {
  std::string model, report, device = "auto", plan, csv, prompt, profile;
  InputArguments inputs;
  std::vector<std::string> shapes;
  CombinationArguments combination;
  GuardOptions guard;
  bool strict = false;
  int warm_up = 2, repeat = 10;
  int64_t tokens = 32, prompt_tokens = 64;
  uint64_t seed = 0;
  OutputOptions output;
  EventSink sink;
};

bool interrupted() { return interrupt_requested.load(); }

BenchRecord empty_record(const BenchArguments& arguments, const char* format) {
  BenchRecord record;
  record.model = arguments.model;
  record.format = format;
  record.threads = thread_count();
  record.warm_up = arguments.warm_up;
  record.repeat = arguments.repeat;
  record.seed = arguments.seed;
  return record;
}

// What both kinds of models take of the options.
template <class Options>
Status take_options(const BenchArguments& arguments, Options& options) {
  options.device = arguments.device;
  options.strict = arguments.strict;
  options.self_check = arguments.guard.rate();
  options.sink = arguments.sink;
  if (!arguments.plan.empty()) {
    CLVET_ASSIGN_OR_RETURN(options.plan, read_plan(arguments.plan));
  }
  if (arguments.device == "host") return {};
  options.state_dir = state_dir();
  return check_private(options.state_dir);
}

Result<std::map<std::string, Tensor>> inputs_of(const BenchArguments& arguments, Graph& graph,
                                                Notes& notes) {
  if (arguments.inputs.any()) return read_inputs(arguments.inputs, graph, notes);
  CLVET_ASSIGN_OR_RETURN(auto shapes, read_shapes(arguments.shapes));
  return random_inputs(graph, take_extents(graph, std::move(shapes)), arguments.seed);
}

// A driver may die when it is released: that is left to the end of the process.
void keep(std::shared_ptr<void> opened) {
  static_cast<void>(new std::shared_ptr<void>(std::move(opened)));
}

// The first samples of a run are those that warm it up.
std::vector<double> samples_of(const RunRecord& record, int warm_up) {
  std::vector<double> samples{record.first_ms};
  samples.insert(samples.end(), record.samples_ms.begin(), record.samples_ms.end());
  const auto unused = std::min(samples.size(), static_cast<size_t>(warm_up));
  return {samples.begin() + static_cast<std::ptrdiff_t>(unused), samples.end()};
}

// Nothing where another process has to do it.
Result<std::optional<BenchRecord>> bench_onnx(const BenchArguments& arguments) {
  if (!arguments.prompt.empty())
    return fail(ErrorCode::kInvalidArgument, "--prompt is for GGUF models; networks take --input");
  BenchRecord record = empty_record(arguments, "onnx");
  const bool host = arguments.device == "host";
  ModelRunOptions options;
  CLVET_ASSIGN_OR_RETURN(Graph graph,
                         read_keyed_onnx(arguments.model, host ? nullptr : &options.model_key));
  Notes notes;
  CLVET_ASSIGN_OR_RETURN(const auto inputs, inputs_of(arguments, graph, notes));
  record.random = !arguments.inputs.any();
  for (const auto& [name, tensor] : inputs) record.inputs.push_back({name, tensor.type()});
  CLVET_RETURN_IF_ERROR(take_options(arguments, options));
  options.overrides = arguments.combination.overrides();
  options.repeat = arguments.warm_up + arguments.repeat - 1;
  options.stop = interrupted;
  options.profile = !arguments.profile.empty();
  std::optional<Report> report;
  if (!host) {
    CLVET_ASSIGN_OR_RETURN(report, current_report(arguments.report, arguments.sink));
    if (wants_isolation(*report)) return std::nullopt;
  }
  say(notes, arguments.sink);
  const ProcessGuard process_guard;
  CLVET_ASSIGN_OR_RETURN(ModelRun run,
                         run_model(std::move(graph), inputs, report ? &*report : nullptr, options));
  run.session->save_programs();
  keep(std::move(run.session));
  record.device = run.record.device;
  record.combination = run.record.combination;
  record.load_ms = run.record.load_ms + run.record.plan_ms + run.record.build_ms;
  record.warnings = run.record.warnings;
  record.profile = std::move(run.profile);
  record.measurements = {{"run", 0, samples_of(run.record, arguments.warm_up)}};
  return record;
}

Result<std::vector<int32_t>> prompt_of(const BenchArguments& arguments, const GgufFile& file,
                                       const LlmConfig& config) {
  if (arguments.prompt.empty())
    return random_tokens(arguments.prompt_tokens, std::max<int64_t>(config.vocab, 1),
                         arguments.seed);
  CLVET_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::create(file.metadata()));
  return tokenizer.encode(arguments.prompt);
}

Result<std::optional<BenchRecord>> bench_gguf(const BenchArguments& arguments) {
  if (arguments.inputs.any() || !arguments.shapes.empty())
    return fail(ErrorCode::kInvalidArgument, "a language model takes --prompt, not --input");
  if (!arguments.profile.empty())
    return fail(
        ErrorCode::kInvalidArgument,
        "--profile is for networks: the steps of a language model are not timed one by one");
  BenchRecord record = empty_record(arguments, "gguf");
  CLVET_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const LlmConfig config, load_config(file));
  LanguageBench bench{.tokens = arguments.tokens,
                      .warm_up = arguments.warm_up,
                      .repeat = arguments.repeat,
                      .stop = interrupted,
                      .sink = arguments.sink};
  CLVET_ASSIGN_OR_RETURN(bench.prompt, prompt_of(arguments, file, config));
  record.random = arguments.prompt.empty();
  LanguageOptions options;
  CLVET_RETURN_IF_ERROR(take_options(arguments, options));
  options.words = arguments.combination.overrides();
  std::optional<Report> report;
  if (arguments.device != "host") {
    CLVET_ASSIGN_OR_RETURN(report,
                           current_report(arguments.report, arguments.sink, needs_of(config)));
    CLVET_ASSIGN_OR_RETURN(options.model_key, options.plan ? sha256_of_file(arguments.model)
                                                           : sha256_of_ends(arguments.model));
    if (wants_isolation(*report)) return std::nullopt;
  }
  const ProcessGuard process_guard;
  CLVET_ASSIGN_OR_RETURN(auto opened,
                         LanguageSession::open(file, config, report ? &*report : nullptr, options));
  // A driver may die when it is released: that is left to the end of the process.
  LanguageSession& session = *opened.release();
  CLVET_ASSIGN_OR_RETURN(record.measurements, bench_language(session, bench));
  session.note();
  record.device = session.record().device;
  record.combination = session.record().combination;
  record.load_ms = session.record().load_ms;
  record.warnings = session.record().warnings;
  return record;
}

Status check_files(const BenchArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  int standard_output = 0;
  for (const std::string& path : {arguments.csv, arguments.output.json, arguments.profile}) {
    if (path == "-") ++standard_output;
    if (!path.empty() && path != "-") CLVET_RETURN_IF_ERROR(check_writable(path));
  }
  if (standard_output > 1)
    return fail(ErrorCode::kInvalidArgument,
                "only one of --json, --csv and --profile can be standard output");
  return {};
}

Result<std::optional<BenchRecord>> bench(const BenchArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_files(arguments));
  CLVET_ASSIGN_OR_RETURN(auto record,
                         is_gguf(arguments.model) ? bench_gguf(arguments) : bench_onnx(arguments));
  if (record) record->interrupted = interrupted();
  return record;
}

Status write_all(const BenchArguments& arguments, const BenchRecord& record) {
  CLVET_RETURN_IF_ERROR(write_document(arguments.output, bench_record_to_json(record)));
  CLVET_RETURN_IF_ERROR(write_document({arguments.csv, false}, bench_record_to_csv(record)));
  if (record.profile)
    CLVET_RETURN_IF_ERROR(
        write_document({arguments.profile, false}, chrome_trace(*record.profile, record.model)));
  const bool silent = arguments.output.quiet || arguments.output.json == "-" ||
                      arguments.csv == "-" || arguments.profile == "-";
  if (!silent) print_text(bench_text(record));
  return {};
}

int run(BenchArguments& arguments) {
  arguments.sink = verb_sink(arguments.output.quiet);
  catch_interrupts();
  adopt_orphans();
  if (arguments.guard.isolate)
    return run_isolated(arguments.guard, arguments.strict, arguments.sink);
  const auto record = bench(arguments);
  end_progress();
  if (record && !*record) return run_isolated(arguments.guard, arguments.strict, arguments.sink);
  if (!record) {
    const bool refused = arguments.strict && record.error().code == ErrorCode::kUnavailable;
    const int code = report_error(record.error());
    return refused ? kExitFindings : code;
  }
  if (const Status written = write_all(arguments, **record); !written)
    return report_error(written.error());
  return (*record)->interrupted ? kExitInterrupted : kExitFine;
}

void add_what(Verb verb, BenchArguments& arguments) {
  verb.add_option("--warm-up", arguments.warm_up, "runs before those that count")
      .within(0, 1000000)
      .shows_default();
  verb.add_option("--repeat", arguments.repeat, "runs that count")
      .within(1, 1000000)
      .shows_default();
  add_shapes(verb, arguments.shapes);
  add_inputs(verb, arguments.inputs);
  verb.add_option("--prompt", arguments.prompt, "GGUF: the text to read").type_name("TEXT");
  verb.add_option("--prompt-tokens", arguments.prompt_tokens,
                  "GGUF, without --prompt: how many random tokens to read")
      .within(1, 1 << 20)
      .shows_default();
  verb.add_option("-n", arguments.tokens, "GGUF: tokens to generate behind the prompt")
      .within(2, 1 << 20)
      .shows_default();
  verb.add_option("--seed", arguments.seed, "seed of random inputs, where none are given")
      .shows_default();
}

void add_ways(Verb verb, BenchArguments& arguments) {
  add_report(verb, arguments.report);
  add_device(verb, arguments.device);
  add_combination(verb, arguments.combination, {"auto", "buffer", "image"});
  add_plan_option(verb, arguments.plan);
  add_strict(verb, arguments.strict);
  add_threads(verb);
  add_guard(verb, arguments.guard);
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand("bench", "measure how long a model takes");
  auto arguments = std::make_shared<BenchArguments>();
  verb.add_option("model", arguments->model, "ONNX or GGUF file").required().type_name("MODEL");
  add_what(verb, *arguments);
  add_ways(verb, *arguments);
  verb.add_option("--csv", arguments->csv,
                  "also write a table to this file, one line a measurement; - is standard output")
      .type_name("FILE|-");
  verb.add_option("--profile", arguments->profile,
                  "ONNX: time each step, print the slowest, and write a trace for ui.perfetto.dev")
      .type_name("FILE|-");
  add_output(verb, arguments->output,
             "also write what was measured (clvet.bench/1) to this file; - is standard output");
  verb.footer(
      "Exit status: 0 measured, 1 --strict and a fallback was needed, 2 wrong usage or a bad "
      "file,\n"
      "3 no device that --device means, 5 another clvet probe is running, 130 interrupted: what "
      "was\n"
      "measured until then is printed.",
      {"clvet bench cls.onnx --shape x=1x3x48x192",
       "clvet bench det.onnx --input x=page.png --image-size 640x640 --device host --threads 2",
       "clvet bench cls.onnx --shape x=1x3x48x192 --profile trace.json",
       "clvet bench model.gguf --prompt-tokens 128 -n 64 --csv -"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_bench
