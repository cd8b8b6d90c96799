// The language of what people read. Documents, and the code's own texts, are English; the files of
// base/catalogue/zh hold the Chinese of each: {"English": "Chinese"}, both as fmt formats.
//
// Text for a terminal or a page is written with tr(). Sentences that come from elsewhere in the
// program or from a document (an error's message, a reason in a report) are passed to translated().
// No decision rests on either.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

namespace clvet {

enum class Language { kEnglish, kChinese };

const char* to_string(Language language);  // en, zh: as --lang and documents have it

// Of a locale or a word of --lang: "zh_CN.UTF-8" and "zh" are Chinese. Nothing of an unknown word.
std::optional<Language> language_named(std::string_view locale);
// As LC_ALL, LC_MESSAGES and LANG say, the first that is set; else English.
Language language_of_locale();

// The language of this process: English until it is set.
Language language();
void set_language(Language language);

// The catalogue's entry of `english` in the language of this process; `english` if there is none.
std::string translated_format(std::string_view english);

template <class... Args>
std::string tr(fmt::format_string<Args...> english, const Args&... args) {
  const fmt::string_view own = english;
  const std::string format = translated_format({own.data(), own.size()});
  try {
    return fmt::vformat(format, fmt::make_format_args(args...));
  } catch (const fmt::format_error&) {  // a test sees to it that no entry is at fault
    return fmt::vformat(own, fmt::make_format_args(args...));
  }
}

// A sentence that was made from a format of the catalogue, in the language of this process. What
// filled the format is kept; where it is a sentence itself, it is translated, too. After "name: "
// and in a list ("one, two, three") sentences are found as well. A text of which nothing is known
// comes back as it is.
std::string translated(std::string_view sentence);
std::string translated(std::string_view sentence, Language language);

}  // namespace clvet
