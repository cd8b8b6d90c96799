#include "cli/options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/guess.h"
#include "cli/number_rule.h"

namespace clvet {

namespace {

// A check that only help tells of.
CLI::Validator remark(const std::string& text) {
  return {[](std::string&) { return std::string(); }, text};
}

// Of an option that takes numbers; what it says later of them is in force when they are read.
template <class T>
Option numeric(CLI::Option* option) {
  auto rule = std::make_shared<NumberRule>();
  option->transform(
      CLI::Validator([rule](std::string& value) { return fault_of_number<T>(*rule, value); }, ""));
  return Option(option, rule);
}

// Puts the word of the list that `value` is, in whatever case, in its place.
std::string take_word(const std::vector<std::string>& words, std::string& value) {
  for (const std::string& word : words) {
    if (lower_case(word) != lower_case(value)) continue;
    value = word;
    return {};
  }
  std::string known;
  for (const std::string& word : words) known += (known.empty() ? "'" : ", '") + word + "'";
  return tr("'{}' is not one of {}", one_line(value), known) + guess(value, words);
}

}  // namespace

Option Option::required() { return option_->required(), *this; }
Option Option::type_name(const std::string& name) { return option_->type_name(name), *this; }
Option Option::shows_default() { return option_->capture_default_str(), *this; }
Option Option::delimiter(char between) { return option_->delimiter(between), *this; }
Option Option::one_each() { return option_->allow_extra_args(false), *this; }
Option Option::needs(const Option& other) { return option_->needs(other.option_), *this; }
Option Option::excludes(const std::string& name) { return option_->excludes(name), *this; }

Option Option::one_of(const std::vector<std::string>& words) {
  option_->transform(CLI::Validator([words](std::string& value) { return take_word(words, value); },
                                    fmt::format("{{{}}}", fmt::join(words, ","))));
  return *this;
}

Option Option::within(int64_t least, int64_t greatest) {
  number_->range = std::pair(least, greatest);
  option_->check(remark(tr("from {} to {}", least, greatest)));
  return *this;
}

Option Option::above_zero() {
  number_->above_zero = true;
  option_->check(remark(tr("above 0")));
  return *this;
}

Option Option::seconds() {
  number_->seconds = true;
  return above_zero();
}

Option Option::not_empty(const std::string& fault) {
  option_->check([fault](const std::string& value) { return value.empty() ? fault : ""; });
  return *this;
}

Option Option::fits(std::string (*fault)(const std::string& value)) {
  option_->check([fault](const std::string& value) { return fault(value); });
  return *this;
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
  return numeric<int>(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, int64_t& value, const std::string& what) {
  return numeric<int64_t>(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, uint64_t& value, const std::string& what) {
  return numeric<uint64_t>(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, double& value, const std::string& what) {
  return numeric<double>(app_->add_option(name, value, translated(what)));
}

Option Verb::add_option(const std::string& name, std::vector<std::string>& values,
                        const std::string& what) {
  return Option(app_->add_option(name, values, translated(what)));
}

Option Verb::add_option(const std::string& name, std::vector<double>& values,
                        const std::string& what) {
  return numeric<double>(app_->add_option(name, values, translated(what)));
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
  add_option("--lang", taken_by_set_language_from,
             "en or zh: the language of texts (default: the locale's)")
      .one_of({"en", "zh"});
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
