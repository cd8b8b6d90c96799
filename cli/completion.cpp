#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/text.h"
#include "cli/shown_verb.h"
#include "embedded_shells.h"

namespace clvet {
namespace {

// A verb with the words that lead to it, "clvet report show".
using SeeVerb = std::function<void(const std::string& path, const ShownVerb& verb)>;

void each_verb(const std::string& path, const ShownVerb& verb, const SeeVerb& see) {
  see(path, verb);
  for (const ShownVerb& part : verb.verbs) each_verb(path + " " + part.name, part, see);
}

std::vector<std::string> names_of(const std::vector<ShownVerb>& verbs) {
  std::vector<std::string> names;
  for (const ShownVerb& verb : verbs) names.push_back(verb.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<ShownOption>& options) {
  std::vector<std::string> names;
  for (const ShownOption& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// "clvet run --device"|"clvet run -d": patterns of one case of a shell.
std::string cases_of(const std::string& path, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += fmt::format("{}'{} {}'", text.empty() ? "" : "|", path, word);
  return text;
}

// What the shells have in common: how a list of words, and files, are offered.
struct Shell {
  std::string_view words, files;  // `words` with a place for them
};
constexpr Shell kBash{"_clvet_words '{}'", "_clvet_files"};
constexpr Shell kZsh{"compadd -- {}", "_files"};

std::string values_of(const Shell& shell, const ShownOption& option) {
  if (!option.words.empty())
    return fmt::format(fmt::runtime(shell.words), fmt::join(option.words, " "));
  return option.takes_file() ? std::string(shell.files) : ":";
}

// The cases of the word that comes before: the verbs that lead on, then the options with values.
struct Cases {
  std::string verbs, values, words;
};

Cases cases_for(const ShownVerb& program, const Shell& shell) {
  Cases cases;
  each_verb("clvet", program, [&](const std::string& path, const ShownVerb& verb) {
    if (!verb.verbs.empty())
      cases.verbs +=
          fmt::format("      {}) at=\"$at $word\" ;;\n", cases_of(path, names_of(verb.verbs)));
    for (const ShownOption& option : verb.options) {
      if (option.value.empty()) continue;
      cases.values += fmt::format("    {}) {}; return ;;\n", cases_of(path, option.names),
                                  values_of(shell, option));
    }
    cases.words +=
        fmt::format("    '{}') flags='{}' verbs='{}' ;;\n", path,
                    fmt::join(names_of(verb.options), " "), fmt::join(names_of(verb.verbs), " "));
  });
  return cases;
}

// A script of cli/shells with the cases in their places.
std::string filled(std::string_view name, const Cases& cases) {
  std::string text;
  for (const EmbeddedFile& file : embedded_shells())
    if (file.path == name) text = file.text;
  const std::pair<std::string_view, const std::string&> places[] = {
      {"@VERBS@\n", cases.verbs}, {"@VALUES@\n", cases.values}, {"@WORDS@\n", cases.words}};
  for (const auto& [place, value] : places) text.replace(text.find(place), place.size(), value);
  return text;
}

std::string fish_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

// Whether the verb of `path` is the one that is being typed.
std::string fish_condition(const std::string& path, const ShownVerb& verb) {
  std::string condition;
  const std::vector<std::string> words = split(path, ' ');
  for (size_t i = 1; i < words.size(); ++i)
    condition += (i > 1 ? "; and " : "") + ("__fish_seen_subcommand_from " + words[i]);
  if (condition.empty()) return "__fish_use_subcommand";
  if (!verb.verbs.empty())
    condition += fmt::format("; and not __fish_seen_subcommand_from {}",
                             fmt::join(names_of(verb.verbs), " "));
  return condition;
}

std::string fish_option(const std::string& condition, const ShownOption& option) {
  std::string line = "complete -c clvet -n " + fish_text(condition);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty()) line += option.takes_file() ? " -r -F" : " -x";
  if (!option.words.empty()) line += fmt::format(" -a '{}'", fmt::join(option.words, " "));
  return line + " -d " + fish_text(option.what) + "\n";
}

}  // namespace

std::string bash_completion(const ShownVerb& program) {
  return filled("clvet.bash", cases_for(program, kBash));
}

std::string zsh_completion(const ShownVerb& program) {
  return filled("clvet.zsh", cases_for(program, kZsh));
}

std::string fish_completion(const ShownVerb& program) {
  std::string text = "# fish completion for clvet, made by 'clvet completion fish'\n";
  each_verb("clvet", program, [&](const std::string& path, const ShownVerb& verb) {
    const std::string condition = fish_condition(path, verb);
    for (const ShownVerb& part : verb.verbs)
      text += fmt::format("complete -c clvet -n {} -f -a {} -d {}\n", fish_text(condition),
                          part.name, fish_text(part.what));
    for (const ShownOption& option : verb.options) text += fish_option(condition, option);
  });
  return text;
}

}  // namespace clvet
