
#include "runtime/check/check.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "reports/render/check_text.h"
#include "runtime/check/check.h"
#include "runtime/check/check_record.h"
#include "runtime/run/kept_report.h"
#include "runtime/run/model_file.h"

namespace clvet::command_check {
namespace {

struct CheckArguments {
  std::string model, report;
  std::vector<std::string> shapes;
  bool nodes = false;
  OutputOptions output;
};

Result<CheckRecord> check(const CheckArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const auto kept, kept_report(arguments.report, state_dir()));
  CLVET_ASSIGN_OR_RETURN(const auto shapes, read_shapes(arguments.shapes));
  const Report* found = kept ? &kept->report : nullptr;
  return is_gguf(arguments.model) ? check_gguf(arguments.model, found)
                                  : check_onnx(arguments.model, shapes, found);
}

int run(const CheckArguments& arguments) {
  const auto record = check(arguments);
  if (!record) return report_error(record.error());
  const Status written = write_document(arguments.output, check_record_to_json(*record));
  if (!written) return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-") {
    print_text(check_text(*record, arguments.nodes));
  }
  return record->runs() ? kExitFine : kExitFindings;
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand(
      "check", "tell whether a model can run here and where, or why it cannot");
  auto arguments = std::make_shared<CheckArguments>();
  verb.add_option("model", arguments->model, "ONNX or GGUF file").required().type_name("MODEL");
  verb.add_option("--report", arguments->report,
                  "check for the devices of this report, which may be another machine's\n"
                  "(default: this machine's, if there is one)")
      .type_name("FILE");
  add_shapes(verb, arguments->shapes);
  add_threads(verb);
  verb.add_flag("--nodes", arguments->nodes, "ONNX: also list the nodes that run on OpenCL");
  add_output(verb, arguments->output, "also write the findings to this file; - is standard output");
  verb.footer(
      "Exit status: 0 every part can run on OpenCL or the host, 1 a part cannot run,\n"
      "2 wrong usage or a bad file. clvet check runs nothing and loads no driver.",
      {"clvet check model.gguf", "clvet check model.gguf --report phone.json",
       "clvet check det.onnx --shape x=1x3x640x640 --json -"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_check
