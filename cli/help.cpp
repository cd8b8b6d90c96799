#include "cli/help.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/guess.h"
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

// The names of a verb's verbs, or of the options that it and its groups have.
std::vector<std::string> known_verbs(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* one : verb.get_subcommands([](const CLI::App*) { return true; })) {
    if (!one->get_name().empty() && !one->get_group().empty()) names.push_back(one->get_name());
  }
  return names;
}

std::vector<std::string> known_options(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* group : verb.get_subcommands([](const CLI::App*) { return true; })) {
    if (!group->get_name().empty()) continue;
    const std::vector<std::string> own = known_options(*group);
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

// Of words that nobody knows, the first: what follows an unknown option may be its value.
std::string unknown_word(const CLI::App& verb, const std::string& name, const std::string& word) {
  const std::string shown = one_line(word);
  if (word.starts_with('-')) {
    const std::string option = word.substr(0, word.find('='));
    return tr("'{}' has no option '{}'", name, shown) + guess(option, known_options(verb));
  }
  const std::vector<std::string> verbs = known_verbs(verb);
  if (verbs.empty()) return tr("'{}' takes no argument '{}'", name, shown);
  return tr("'{} {}' is not a verb", name, shown) + guess(word, verbs);
}

std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* verb = &app;
  std::string name = "clvet";
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    name += " " + verb->get_name();
  }
  const std::vector<std::string> unknown = verb->remaining();
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  // What is missing may be what was misspelt.
  const bool about_words =
      code == CLI::ExitCodes::ExtrasError || code == CLI::ExitCodes::RequiredError;
  if (!about_words || unknown.empty()) return translated(error.what());
  return unknown_word(*verb, name, unknown.front());
}

}  // namespace

void set_language_from(int argc, const char* const* argv) {
  set_language(language_of_locale());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool joined = word.starts_with("--lang=");
    if (!joined && (word != "--lang" || i + 1 == argc)) continue;
    const auto wanted = language_named(lower_case(joined ? word.substr(7) : argv[i + 1]));
    if (wanted) set_language(*wanted);
  }
}

void set_help_labels(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", translated("print this help and exit"));
}

std::string program_notes() {
  const auto table = [](const std::string& title, std::span<const HelpRow> rows) {
    std::string text = "\n\n" + title;
    for (const HelpRow& row : rows)
      text += fmt::format("\n  {:<26}  {}", row.name, translated(row.meaning));
    return text;
  };
  return tr("Start with 'clvet probe'. Each verb has --help with examples.") +
         table(tr("Exit status:"), kExitCodeRows) +
         table(tr("Environment variables:"), kVariableRows);
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    app.exit(error);
    return kExitFine;
  }
  print_error(fault_of(app, error));
  const bool no_verb = app.get_subcommands().empty();
  fmt::print(stderr, "{}\n",
             no_verb ? tr("'clvet --help' lists the verbs.")
                     : tr("'clvet VERB --help' explains each option."));
  return kExitUsage;
}

}  // namespace clvet
