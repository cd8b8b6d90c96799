#include <cstdio>

#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "runtime/check/check.h"

#include "base/result.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/model_file.h"
#include "cli/model_inputs.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "reports/render/check_text.h"
#include "runtime/check/check.h"
#include "runtime/check/check_record.h"

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
  CLVET_ASSIGN_OR_RETURN(const std::optional<Report> report, kept_report(arguments.report));
  CLVET_ASSIGN_OR_RETURN(const auto shapes, read_shapes(arguments.shapes));
  const Report* found = report ? &*report : nullptr;
  return is_gguf(arguments.model) ? check_gguf(arguments.model, found)
                                  : check_onnx(arguments.model, shapes, found);
}

int run(const CheckArguments& arguments) {
  const auto record = check(arguments);
  if (!record) return report_error(record.error());
  const Status written = write_document(arguments.output, check_record_to_json(*record));
  if (!written) return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-") {
    std::printf("%s", check_text(*record, arguments.nodes).c_str());
  }
  return record->runs() ? kExitFine : kExitFindings;
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand("check", "say whether a model can run, where, and why not");
  auto arguments = std::make_shared<CheckArguments>();
  verb.add_option("model", arguments->model, "GGUF or ONNX file").required().type_name("MODEL");
  verb.add_option("--report", arguments->report,
                  "check against the devices of this report, of any machine (default: the one in "
                  "the state folder, where there is one)")
      .type_name("FILE");
  add_shapes(verb, arguments->shapes);
  verb.add_flag("--nodes", arguments->nodes, "ONNX: list the nodes on OpenCL as well");
  verb.add_option("--json", arguments->output.json, "write the check record here; - is stdout")
      .type_name("FILE|-");
  verb.add_flag("--quiet", arguments->output.quiet, "print nothing but errors");
  verb.footer(
      "Exit: 0 every part can run on OpenCL or the host, 1 something cannot, 2 usage or bad file.\n"
      "Nothing is run and no driver is loaded.\n"
      "Examples:\n"
      "  clvet check model.gguf\n"
      "  clvet check model.gguf --report phone.json\n"
      "  clvet check det.onnx --shape x=1x3x640x640 --json -");
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_check
