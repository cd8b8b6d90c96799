#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/report_source.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "reports/render/check_text.h"
#include "runtime/check/check.h"
#include "runtime/check/check_record.h"
#include "runtime/graph/tensor.h"

namespace clvet::command_check {
namespace {

struct CheckArguments {
  std::string model, report;
  std::vector<std::string> shapes;
  bool nodes = false;
  OutputOptions output;
};

// NAME=1x3x640x640
Result<std::pair<std::string, Shape>> parse_shape(const std::string& text) {
  const size_t equals = text.rfind('=');
  Shape shape;
  if (equals != std::string::npos) {
    for (const std::string& word : split(std::string_view(text).substr(equals + 1), 'x')) {
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
      if (error != std::errc() || end != word.data() + word.size() || extent < 0) {
        shape.clear();
        break;
      }
      shape.push_back(extent);
    }
  }
  if (shape.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--shape '{}' is not NAME=EXTENTxEXTENT..., e.g. x=1x3x320x320", text);
  }
  return std::pair(text.substr(0, equals), shape);
}

// By its name, else by its first bytes.
bool is_gguf(const std::string& path) {
  if (path.ends_with(".gguf") || path.ends_with(".onnx")) return path.ends_with(".gguf");
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == "GGUF";
}

// To read from a device or a pipe might never end.
Status check_model_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status))
    return {};  // what is read next says what is wrong
  return fail(ErrorCode::kInvalidArgument, "cannot read {}: it is no file; name a model's file",
              path);
}

Result<CheckRecord> check(const CheckArguments& arguments) {
  CLVET_RETURN_IF_ERROR(check_model_file(arguments.model));
  CLVET_ASSIGN_OR_RETURN(const std::optional<Report> report, kept_report(arguments.report));
  std::map<std::string, Shape> shapes;
  for (const std::string& text : arguments.shapes) {
    CLVET_ASSIGN_OR_RETURN(auto shape, parse_shape(text));
    shapes.insert(std::move(shape));
  }
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
  verb.add_option("--shape", arguments->shapes, "ONNX: the extents of an input that are open")
      .type_name("NAME=1x3x320x320...");
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
