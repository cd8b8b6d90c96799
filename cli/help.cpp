#include "cli/help.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/language.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"

namespace clvet {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    for (const char* word : {"Usage", "OPTIONS", "REQUIRED", "Positionals", "Needs", "Excludes"})
      label(word, translated(word));
    label("SUBCOMMAND", tr("VERB"));
  }

  std::string make_group(std::string group, bool positional,
                         std::vector<const CLI::Option*> options) const override {
    return Formatter::make_group(translated(group), positional, std::move(options));
  }

  // A group of options of which one has to be given.
  std::string make_expanded(const CLI::App* app) const override {
    if (!app->get_name().empty()) return Formatter::make_expanded(app);
    const CLI::Option* help = app->get_help_ptr();
    const auto all = app->get_options(
        [help](const CLI::Option* option) { return option != help && option->nonpositional(); });
    return Formatter::make_group(app->get_group() + tr(" (exactly one of these is required)"),
                                 false, all);
  }
};

}  // namespace

void set_language_from(int argc, const char* const* argv) {
  set_language(language_of_locale());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool joined = word.starts_with("--lang=");
    if (!joined && (word != "--lang" || i + 1 == argc)) continue;
    const auto wanted = language_named(joined ? word.substr(7) : argv[i + 1]);
    if (wanted) set_language(*wanted);
  }
}

void set_help_labels(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", translated("print this help and exit"));
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    app.exit(error);
    return kExitFine;
  }
  const std::vector<std::string> unknown = app.remaining();
  const bool no_verb = app.get_subcommands().empty();
  print_error(no_verb && !unknown.empty() ? tr("'{}' is not a verb", unknown.front())
                                          : translated(error.what()));
  fmt::print(stderr, "{}\n",
             no_verb ? tr("'clvet --help' lists the verbs.")
                     : tr("'clvet VERB --help' explains each option."));
  return kExitUsage;
}

}  // namespace clvet
