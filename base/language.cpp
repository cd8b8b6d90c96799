#include "base/language.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "embedded_catalogue.h"

namespace clvet {
namespace {

using Catalogue = std::map<std::string, std::string, std::less<>>;

// How much of one text is looked up, in all its parts: a driver's log has thousands, none a
// sentence.
constexpr size_t kMostBytes = 1 << 16;

std::atomic<Language> current{Language::kEnglish};

Catalogue read_catalogue() {
  Catalogue all;
  for (const EmbeddedFile& file : embedded_catalogue()) {
    const auto json = nlohmann::json::parse(file.text);
    for (const auto& [english, chinese] : json.items())
      all.emplace(english, chinese.get<std::string>());
  }
  return all;
}

const Catalogue& catalogue() {
  static const Catalogue all = read_catalogue();
  return all;
}

// A format taken apart: a field stands between each two of `texts`.
struct Parts {
  std::vector<std::string> texts{""};
  std::vector<size_t> fields;  // which argument fills it
  size_t letters = 0;          // how much of the format is text
};

Parts parts_of(std::string_view format) {
  Parts parts;
  for (size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    const bool doubled = at + 1 < format.size() && format[at + 1] == c;
    if (c == '{' && !doubled) {
      const size_t end = format.find('}', at);
      const std::string number(format.substr(at + 1, format.find_first_of(":}", at) - at - 1));
      parts.fields.push_back(number.empty() ? parts.fields.size() : std::stoul(number));
      parts.texts.emplace_back();
      at = end;
      continue;
    }
    if ((c == '{' || c == '}') && doubled) ++at;
    parts.texts.back() += c;
    parts.letters += c != ' ';
  }
  return parts;
}

// What fills the fields of a format that `sentence` was made from; nothing if it was not.
std::optional<std::vector<std::string_view>> values_in(std::string_view sentence,
                                                       const Parts& parts) {
  const std::string& first = parts.texts.front();
  const std::string& last = parts.texts.back();
  if (sentence.size() < first.size() + last.size()) return std::nullopt;
  if (!sentence.starts_with(first) || !sentence.ends_with(last)) return std::nullopt;
  sentence = sentence.substr(first.size(), sentence.size() - first.size() - last.size());
  std::vector<std::string_view> values;
  for (size_t i = 1; i + 1 < parts.texts.size(); ++i) {
    const size_t end = sentence.find(parts.texts[i]);
    if (end == std::string_view::npos) return std::nullopt;
    values.push_back(sentence.substr(0, end));
    sentence.remove_prefix(end + parts.texts[i].size());
  }
  values.push_back(sentence);
  return values;
}

struct Entry {
  Parts english, chinese;
};

// The entries with fields, those with the most text first: they say the most of a sentence.
const std::vector<Entry>& entries_with_fields() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> entries;
    for (const auto& [english, chinese] : catalogue()) {
      Entry entry{parts_of(english), parts_of(chinese)};
      if (!entry.english.fields.empty()) entries.push_back(std::move(entry));
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.english.letters > b.english.letters;
    });
    return entries;
  }();
  return all;
}

// Finds the sentences that one text is made of. Each part of it is looked up once.
class Sentences {
 public:
  // Names are single words, and stay: a sentence has a space.
  std::optional<std::string> known(std::string_view sentence) {
    if (sentence.find(' ') == std::string_view::npos) return std::nullopt;
    const Part part{sentence.data(), sentence.size()};
    if (const auto found = found_.find(part); found != found_.end()) return found->second;
    if (bytes_ > kMostBytes) return std::nullopt;
    bytes_ += sentence.size();
    found_.emplace(part, std::nullopt);
    return found_[part] = look_up(sentence);
  }

 private:
  using Part = std::pair<const char*, size_t>;

  std::optional<std::string> look_up(std::string_view sentence) {
    if (const auto exact = catalogue().find(sentence); exact != catalogue().end())
      return exact->second;
    for (const Entry& entry : entries_with_fields()) {
      const auto values = values_in(sentence, entry.english);
      if (!values) continue;
      if (takes_name(entry.english, *values)) {
        if (auto rest = known_after_name(sentence)) return rest;
      }
      return filled(entry.chinese, *values);
    }
    if (auto rest = known_after_name(sentence)) return rest;
    return sentence.find(", ") == std::string_view::npos ? std::nullopt : known_list(sentence);
  }

  std::string filled(const Parts& format, const std::vector<std::string_view>& values) {
    std::string text = format.texts.front();
    for (size_t i = 0; i < format.fields.size(); ++i) {
      const std::string_view value =
          format.fields[i] < values.size() ? values[format.fields[i]] : "";
      text += known(value).value_or(std::string(value)) + format.texts[i + 1];
    }
    return text;
  }

  // Whether "--option: " before the sentence has become a part of the first value.
  static bool takes_name(const Parts& english, const std::vector<std::string_view>& values) {
    return english.texts.front().empty() && values[0].starts_with("--") &&
           values[0].find(": ") < values[0].find(' ');
  }

  // "name: sentence", where the sentence is known.
  std::optional<std::string> known_after_name(std::string_view sentence) {
    for (size_t colon = sentence.find(": "); colon != std::string_view::npos;
         colon = sentence.find(": ", colon + 1)) {
      if (const auto rest = known(sentence.substr(colon + 2)))
        return std::string(sentence.substr(0, colon + 2)) + *rest;
    }
    return std::nullopt;
  }

  // "sentence, name, sentence": a list of which each part is known, or a name.
  std::optional<std::string> known_list(std::string_view sentence) {
    std::string list;
    for (;;) {
      const size_t comma = sentence.find(", ");
      const std::string_view part = sentence.substr(0, comma);
      const auto words = known(part);
      if (!words && part.find(' ') != std::string_view::npos) return std::nullopt;
      list += words.value_or(std::string(part));
      if (comma == std::string_view::npos) return list;
      list += ", ";
      sentence.remove_prefix(comma + 2);
    }
  }

  std::map<Part, std::optional<std::string>> found_;
  size_t bytes_ = 0;
};

}  // namespace

const char* to_string(Language language) { return language == Language::kChinese ? "zh" : "en"; }

std::optional<Language> language_named(std::string_view locale) {
  const std::string_view word = locale.substr(0, locale.find_first_of("_.@-"));
  if (word == "zh") return Language::kChinese;
  if (word == "en" || word == "C" || word == "POSIX") return Language::kEnglish;
  return std::nullopt;
}

Language language_of_locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value && *value) return language_named(value).value_or(Language::kEnglish);
  }
  return Language::kEnglish;
}

Language language() { return current; }
void set_language(Language language) { current = language; }

std::string translated_format(std::string_view english) {
  if (language() == Language::kEnglish) return std::string(english);
  const auto entry = catalogue().find(english);
  return entry == catalogue().end() ? std::string(english) : entry->second;
}

std::string translated(std::string_view sentence) { return translated(sentence, language()); }

std::string translated(std::string_view sentence, Language language) {
  if (language == Language::kEnglish) return std::string(sentence);
  if (const auto word = catalogue().find(sentence); word != catalogue().end()) return word->second;
  return Sentences().known(sentence).value_or(std::string(sentence));
}

}  // namespace clvet
