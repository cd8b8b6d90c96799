#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/language.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "probe/diagnose/advice.h"
#include "probe/report/report.h"
#include "probe/report/report_files.h"
#include "probe/report/report_json.h"
#include "reports/render/bug_summary.h"
#include "reports/render/html/page.h"
#include "reports/render/text.h"
#include "runtime/run/history.h"

namespace clvet::command_report {
namespace {

struct ReportArguments {
  std::vector<std::string> files;
  std::string out, data_dir;
  OutputOptions output;
};

using Reports = std::vector<NamedReport>;
using Render = std::string (*)(const Reports& reports, const ReportArguments& arguments);

std::string render_text(const Reports& reports, const ReportArguments& arguments) {
  std::string text;
  for (const NamedReport& row : reports) {
    if (reports.size() > 1) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", row.name);
    text += summary_text(row.report, arguments.out.empty() && use_colours(1));
  }
  return text;
}

std::string render_html(const Reports& reports, const ReportArguments&) {
  return html_page(reports);
}

// What this machine and its user are called: the report may be of here.
std::vector<std::string> own_names() {
  std::vector<std::string> names;
  for (const char* name : {"USER", "LOGNAME", "SUDO_USER"}) {
    if (const char* value = std::getenv(name)) names.emplace_back(value);
  }
  if (const passwd* user = ::getpwuid(::getuid())) names.emplace_back(user->pw_name);
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) == 0) {
    names.emplace_back(host);
    names.push_back(names.back().substr(0, names.back().find('.')));
  }
  return names;
}

std::string render_bug_summary(const Reports& reports, const ReportArguments&) {
  const std::vector<std::string> names = own_names();
  std::string text;
  for (const auto& row : reports)
    text += (text.empty() ? "" : "\n") + bug_summary(row.report, names);
  return text;
}

struct Subcommand {
  const char *name, *what, *examples[2];
  Render render;
  const char* file;  // of what no terminal can show; null: it can
};

constexpr Subcommand kSubcommands[] = {
    {"show",
     "reports as text",
     {"clvet report show", "clvet report show board.json other.json"},
     render_text,
     nullptr},
    {"html",
     "reports as one HTML page, for a browser or for paper; it needs no network",
     {"clvet report html --out report.html",
      "clvet report html board.json other.json --out boards.html"},
     render_html,
     "html"},
    {"summary",
     "about ten lines for a bug report, with no user names, host names, serial numbers or home "
     "folders",
     {"clvet report summary", "clvet report summary board.json --out summary.txt"},
     render_bug_summary,
     nullptr},
};

Result<Reports> read_reports(std::vector<std::string> files, const std::string& data_dir) {
  AdviceData data;
  if (!data_dir.empty()) {
    CLVET_ASSIGN_OR_RETURN(data, advice_data(data_dir));
  }
  if (files.empty()) {
    CLVET_RETURN_IF_ERROR(check_private(state_dir()));
    files.push_back(report_file(state_dir()));
    CLVET_RETURN_IF_ERROR(check_private(files.back()));
  }
  Reports reports;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text) {
      return fail(text.error().code, "{}; 'clvet probe --out FILE' makes a report",
                  text.error().message);
    }
    CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(*text, file));
    if (!data_dir.empty()) report.advice = advise(report, data);
    History(state_dir()).tell(report);
    reports.push_back({file, std::move(report)});
  }
  return reports;
}

// A name in the working folder that nobody has yet: board.html of board.json, reports.html of
// several; then board-2.html and so on.
Result<std::string> new_file(const Reports& reports, const std::string& ending) {
  std::string name = reports.size() > 1 ? "reports" : file_name_of(reports.front().name);
  if (name.ends_with(".json")) name.resize(name.size() - std::string_view(".json").size());
  constexpr int kMost = 1000;
  std::error_code error;
  for (int n = 1; n < kMost; ++n) {
    const std::string path =
        n == 1 ? fmt::format("{}.{}", name, ending) : fmt::format("{}-{}.{}", name, n, ending);
    const auto status = std::filesystem::symlink_status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) return path;
  }
  return fail(ErrorCode::kInvalidArgument, "name a file for the page with --out");
}

// One report as it is, several as an array.
std::string as_json(const Reports& reports) {
  if (reports.size() == 1) return report_to_json(reports.front().report);
  std::string text;
  for (const NamedReport& row : reports)
    text += (text.empty() ? "[\n" : ",\n") + report_to_json(row.report);
  return text + "]\n";
}

// Where the text goes: "" is standard output.
Result<std::string> place_of(const ReportArguments& arguments, const Reports& reports,
                             const Subcommand& row) {
  const bool silent = arguments.output.quiet || arguments.output.json == "-";
  if (!arguments.out.empty() || silent || !row.file || !::isatty(STDOUT_FILENO))
    return arguments.out;
  return new_file(reports, row.file);
}

Status write_all(ReportArguments& arguments, const Reports& reports, const Subcommand& row) {
  CLVET_ASSIGN_OR_RETURN(arguments.out, place_of(arguments, reports, row));
  const std::string text = row.render(reports, arguments);
  if (!arguments.out.empty()) CLVET_RETURN_IF_ERROR(write_file_atomically(arguments.out, text));
  if (!arguments.output.json.empty())
    CLVET_RETURN_IF_ERROR(write_document(arguments.output, as_json(reports)));
  if (arguments.output.quiet || arguments.output.json == "-") return {};
  if (arguments.out.empty()) return write_document({"-", false}, text);
  print_line(tr("written: {}", arguments.out));
  return {};
}

int run(ReportArguments& arguments, const Subcommand& row) {
  const auto reports = read_reports(arguments.files, arguments.data_dir);
  if (!reports) return report_error(reports.error());
  const Status written = write_all(arguments, *reports, row);
  return written ? kExitFine : report_error(written.error());
}

void add_subcommand(Verb verb, const Subcommand& row, int& exit_code) {
  Verb command = verb.add_subcommand(row.name, row.what);
  auto arguments = std::make_shared<ReportArguments>();
  command
      .add_option("report", arguments->files,
                  "reports that 'clvet probe' wrote (default: this machine's)")
      .type_name("REPORT");
  command
      .add_option("--out", arguments->out,
                  "write to this file (default: standard output; a page never goes to a\n"
                  "terminal, but to a new file in the working folder)")
      .type_name("FILE");
  add_data_dir(command, arguments->data_dir);
  add_output(command, arguments->output,
             "also write the reports to this file, several as an array; - is standard output");
  command.footer("Exit status: 0 done, 2 wrong usage, or a file is not a usable report.",
                 {row.examples[0], row.examples[1]});
  command.callback([arguments, &row, &exit_code] { exit_code = run(*arguments, row); });
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand("report", "show reports as text, as a page or as a summary");
  verb.require_subcommand(1);
  verb.footer("Each of these has --help with examples.");
  for (const Subcommand& row : kSubcommands) add_subcommand(verb, row, exit_code);
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_report
