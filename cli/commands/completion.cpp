// The hidden verbs for packages: completion of a shell, and manual pages, from the verbs
// themselves.
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/shown_verb.h"
#include "cli/terminal.h"

namespace clvet::command_completion {
namespace {

std::string completion_of(const std::string& shell, const ShownVerb& program) {
  if (shell == "bash") return bash_completion(program);
  return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

Status write_manual(const std::string& folder, const ShownVerb& program) {
  CLVET_RETURN_IF_ERROR(make_folders(folder));
  for (const ManualPage& page : manual_pages(program))
    CLVET_RETURN_IF_ERROR(write_file_atomically(folder + "/" + page.name, page.text));
  return {};
}

void add_completion(Verb program) {
  Verb verb = program.add_subcommand("completion", "internal: prints the completion of a shell");
  verb.hide();
  auto shell = std::make_shared<std::string>();
  verb.add_option("shell", *shell).required().one_of({"bash", "zsh", "fish"});
  verb.callback([shell, program] { print_text(completion_of(*shell, program.shown())); });
}

void add(Verb program, int& exit_code) {
  add_completion(program);
  Verb verb = program.add_subcommand("manual", "internal: writes the manual pages into a folder");
  verb.hide();
  auto folder = std::make_shared<std::string>();
  verb.add_option("folder", *folder).required();
  verb.callback([folder, program, &exit_code] {
    const Status written = write_manual(*folder, program.shown());
    exit_code = written ? kExitFine : report_error(written.error());
  });
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_completion
