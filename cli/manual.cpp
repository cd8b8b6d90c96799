#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/language.h"
#include "base/version.h"
#include "cli/shown_verb.h"

namespace clvet {
namespace {

// The first byte of an ideograph in UTF-8: U+4000 to U+9FFF.
bool begins_ideograph(char c) { return '\xe4' <= c && c <= '\xe9'; }

// Text that holds no request and no escape of roff. A line may break before each ideograph: groff
// itself breaks at spaces alone.
std::string roff(std::string_view text) {
  std::string safe;
  bool begins = true;
  for (const char c : text) {
    if (!begins && begins_ideograph(c)) safe += "\\:";
    if (begins && (c == '.' || c == '\'')) safe += "\\&";
    begins = c == '\n';
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else if (c == '\'')
      safe += "\\(aq";
    else
      safe += c;
  }
  return safe;
}

std::string option_text(const ShownOption& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  if (!option.value.empty())
    names += (names.empty() ? "" : " ") + ("\\fI" + roff(option.value) + "\\fR");
  std::string text = ".TP\n" + names + "\n" + roff(option.what) + "\n";
  if (!option.words.empty())
    text += roff(fmt::format("({})", fmt::join(option.words, ", "))) + "\n";
  if (!option.standard.empty()) text += roff(tr("Default: {}", option.standard)) + "\n";
  return text;
}

std::string synopsis(const std::string& command, const ShownVerb& verb) {
  std::string text = ".SH SYNOPSIS\n\\fB" + roff(command) + "\\fR";
  if (!verb.verbs.empty()) text += " \\fI" + tr("VERB") + "\\fR";
  for (const ShownOption& argument : verb.arguments)
    text += (argument.required ? " \\fI" : " [\\fI") + roff(argument.value) +
            (argument.required ? "\\fR" : "\\fR]");
  return text + " [\\fIOPTION\\fR...]\n";
}

// Exit status, then the examples as they are typed.
std::string notes_text(const std::string& notes) {
  const std::string title = tr("Examples:");
  const size_t at = notes.find(title);
  std::string text = ".SH NOTES\n.nf\n" + roff(notes.substr(0, at)) + "\n.fi\n";
  if (at == std::string::npos) return text;
  return text + ".SH EXAMPLES\n.nf" + roff(notes.substr(at + title.size())) + "\n.fi\n";
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string page_text(const std::string& command, const std::string& title, const ShownVerb& verb) {
  std::string text =
      fmt::format(".TH \"{}\" 1 \"\" \"clvet {}\" \"clvet\"\n.nh\n.ad l\n", upper(title), kVersion);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(title), roff(verb.what));
  text += synopsis(command, verb);
  if (!verb.verbs.empty()) text += ".SH VERBS\n";
  for (const ShownVerb& part : verb.verbs)
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(part.name), roff(part.what));
  if (!verb.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const ShownOption& argument : verb.arguments) text += option_text(argument);
  text += ".SH OPTIONS\n";
  for (const ShownOption& option : verb.options) text += option_text(option);
  return text + notes_text(verb.notes);
}

void add_pages(const std::string& command, const std::string& title, const ShownVerb& verb,
               std::vector<ManualPage>& pages) {
  pages.push_back({title + ".1", page_text(command, title, verb)});
  for (const ShownVerb& part : verb.verbs)
    add_pages(command + " " + part.name, title + "-" + part.name, part, pages);
}

}  // namespace

std::vector<ManualPage> manual_pages(const ShownVerb& program) {
  std::vector<ManualPage> pages;
  add_pages("clvet", "clvet", program, pages);
  return pages;
}

}  // namespace clvet
