#include "cli/shown_verb.h"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/options.h"

namespace clvet {
namespace {

// Of "WORD:{auto,low}": what the library makes of a list of words.
std::vector<std::string> words_in(const std::string& type) {
  const size_t first = type.find('{'), last = type.find('}');
  if (first == std::string::npos || last == std::string::npos) return {};
  return split(std::string_view(type).substr(first + 1, last - first - 1), ',');
}

ShownOption shown_option(const CLI::Option& option) {
  ShownOption shown;
  for (const std::string& name : option.get_snames()) shown.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shown.names.push_back("--" + name);
  const std::string type = option.get_type_name();
  shown.words = words_in(type);
  if (option.get_items_expected_max() > 0) {
    shown.value = type.substr(0, type.find(':'));
    if (option.get_positional() || !shown.words.empty())
      shown.value = type.substr(0, type.find(":{"));
    if (shown.value.empty()) shown.value = "VALUE";
  }
  shown.standard = option.get_default_str();
  shown.what = option.get_description();
  shown.required = option.get_required();
  return shown;
}

void add_options(const CLI::App& app, ShownVerb& shown) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? shown.options : shown.arguments).push_back(shown_option(*option));
  }
}

ShownVerb shown_verb(const CLI::App& app) {
  ShownVerb shown{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  add_options(app, shown);
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (part->get_name().empty())
      add_options(*part, shown);
    else if (!part->get_group().empty())
      shown.verbs.push_back(shown_verb(*part));
  }
  return shown;
}

}  // namespace

bool ShownOption::takes_file() const {
  for (const char* part : {"FILE", "DIR", "PATH", "MODEL", "REPORT"}) {
    if (value.find(part) != std::string::npos) return true;
  }
  return false;
}

ShownVerb Verb::shown() const {
  ShownVerb shown = shown_verb(*app_);
  shown.name = "clvet";
  return shown;
}

}  // namespace clvet
