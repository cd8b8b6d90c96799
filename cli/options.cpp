#include "cli/options.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/result.h"

namespace clvet {

Option Option::required() { return Option(option_->required()); }
Option Option::type_name(const std::string& name) { return Option(option_->type_name(name)); }
Option Option::shows_default() { return Option(option_->capture_default_str()); }
Option Option::delimiter(char between) { return Option(option_->delimiter(between)); }
Option Option::one_each() { return Option(option_->allow_extra_args(false)); }
Option Option::needs(const Option& other) { return Option(option_->needs(other.option_)); }
Option Option::excludes(const std::string& name) { return Option(option_->excludes(name)); }

Option Option::one_of(const std::vector<std::string>& words) {
  return Option(option_->check(CLI::IsMember(words)));
}

Option Option::within(int64_t least, int64_t greatest) {
  return Option(option_->check(CLI::Range(least, greatest)));
}

Option Option::above_zero() { return Option(option_->check(CLI::PositiveNumber)); }

Option Option::not_empty(const std::string& fault) {
  return Option(
      option_->check([fault](const std::string& value) { return value.empty() ? fault : ""; }));
}

Verb Verb::add_subcommand(const std::string& name, const std::string& what) {
  Verb verb(app_->add_subcommand(name, translated(what))->group(tr("Verbs")));
  verb.add_language();
  return verb;
}

Verb Verb::add_option_group(const std::string& name) {
  return Verb(app_->add_option_group(translated(name)));
}

Option Verb::add_option(const std::string& name, std::string& value, const std::string& what) {
  return Option(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, int& value, const std::string& what) {
  return Option(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, int64_t& value, const std::string& what) {
  return Option(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, uint64_t& value, const std::string& what) {
  return Option(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, double& value, const std::string& what) {
  return Option(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, std::vector<std::string>& values,
                        const std::string& what) {
  return Option(app_->add_option(name, values, translated(what)));
}

Option Verb::add_option(const std::string& name, std::vector<double>& values,
                        const std::string& what) {
  return Option(app_->add_option(name, values, translated(what)));
}

Option Verb::add_option(const std::string& name, std::function<Status(const std::string&)> take,
                        const std::string& what) {
  const auto taken = [name, take = std::move(take)](const std::string& text) {
    if (const Status status = take(text); !status)
      throw CLI::ValidationError(name, status.error().message);
  };
  return Option(app_->add_option_function<std::string>(name, taken, translated(what)));
}

void Verb::add_flag(const std::string& name, bool& value, const std::string& what) {
  app_->add_flag(name, value, translated(what));
}

void Verb::require_option(int count) { app_->require_option(count); }
void Verb::require_subcommand(int count) { app_->require_subcommand(count); }
void Verb::hide() { app_->group(""); }

void Verb::add_language() {
  static std::string taken_by_set_language_from;
  app_->add_option("--lang", taken_by_set_language_from,
                   tr("en or zh: the language of texts (default: the locale's)"))
      ->check(CLI::IsMember({"en", "zh"}));
}

void Verb::footer(const std::string& notes, const std::vector<std::string>& examples) {
  std::string text = translated(notes);
  if (!examples.empty()) text += "\n" + tr("Examples:");
  for (const std::string& example : examples) text += "\n  " + example;
  app_->footer(text);
}

void Verb::callback(std::function<void()> act) { app_->callback(std::move(act)); }

void Verb::before_verbs(std::function<Status()> check) {
  app_->parse_complete_callback([check = std::move(check)] {
    if (const Status status = check(); !status)
      throw CLI::ValidationError(status.error().message, CLI::ExitCodes::ValidationError);
  });
}

}  // namespace clvet
