// Prints the schema of a document.
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "reports/schema/schemas.h"

namespace clvet::command_schema {
namespace {

struct SchemaArguments {
  std::string name;
  OutputOptions output;
};

std::string names_as_json() {
  nlohmann::json names = nlohmann::json::array();
  for (const SchemaFile& file : schema_files()) names.push_back(file.name);
  return names.dump(1) + "\n";
}

std::string names_as_lines() {
  std::string lines;
  for (const SchemaFile& file : schema_files()) lines += file.name + "\n";
  return lines;
}

Result<std::string> document_of(const SchemaArguments& arguments) {
  if (arguments.name.empty()) return names_as_json();
  CLVET_ASSIGN_OR_RETURN(const SchemaFile file, schema_file(arguments.name));
  return std::string(file.text);
}

int run(const SchemaArguments& arguments) {
  const auto document = document_of(arguments);
  if (!document) return report_error(document.error());
  const Status written = write_document(arguments.output, *document);
  if (!written) return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-")
    print_text(arguments.name.empty() ? names_as_lines() : *document);
  return kExitFine;
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand("schema", "print the JSON Schema of a document");
  auto arguments = std::make_shared<SchemaArguments>();
  verb.add_option("name", arguments->name, "which; without it, the names are listed")
      .type_name("NAME");
  add_output(verb, arguments->output, "also write the schema to this file; - is standard output");
  verb.footer("Exit status: 0 done, 2 wrong usage, or there is no such schema.",
              {"clvet schema", "clvet schema report", "clvet schema run --json run.schema.json"});
  verb.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_schema
