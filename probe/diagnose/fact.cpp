#include "probe/diagnose/fact.h"

#include <cstddef>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/language.h"
#include "base/result.h"
#include "probe/data/embedded_json.h"

namespace clvet {
namespace {

std::string between(const std::string& text, size_t open, size_t close) {
  return text.substr(open + 1, close - open - 1);
}

FactKind read_kind(const nlohmann::json& json) {
  FactKind kind;
  kind.fields = json.at("fields").get<std::set<std::string>>();
  for (const auto& row : json.at("say")) kind.sentences.push_back(row.get<LanguageText>());
  return kind;
}

Result<FactKinds> read_kinds() {
  CLVET_ASSIGN_OR_RETURN(const nlohmann::json json, embedded_json("advice/facts.json"));
  FactKinds kinds;
  try {
    for (const auto& [name, row] : json.at("kinds").items()) kinds[name] = read_kind(row);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "advice/facts.json: {}", error.what());
  }
  return kinds;
}

}  // namespace

const std::string& Fact::at(const std::string& field) const {
  static const std::string none;
  const auto found = fields.find(field);
  return found == fields.end() ? none : found->second;
}

const Result<FactKinds>& fact_kinds() {
  static const Result<FactKinds> kinds = read_kinds();
  return kinds;
}

std::string fill_fields(const std::string& text, const Fact& fact, const std::string& missing,
                        bool& complete) {
  std::string out;
  size_t at = 0;
  for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', at)) {
    const size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    const std::string& value = fact.at(between(text, open, close));
    complete &= !value.empty();
    out += text.substr(at, open - at) + (value.empty() ? missing : value);
    at = close + 1;
  }
  return out + text.substr(at);
}

std::string fill_sections(const std::string& text, const Fact& fact, bool& complete) {
  std::string out;
  size_t at = 0;
  for (size_t open = text.find('['); open != std::string::npos; open = text.find('[', at)) {
    const size_t close = text.find(']', open);
    if (close == std::string::npos) break;
    bool whole = true;
    const std::string section = fill_fields(between(text, open, close), fact, "", whole);
    out += fill_fields(text.substr(at, open - at), fact, "", complete) + (whole ? section : "");
    at = close + 1;
  }
  return out + fill_fields(text.substr(at), fact, "", complete);
}

Fact in_language(const Fact& fact, const std::string& language) {
  Fact told = fact;
  const Language wanted = language_named(language).value_or(Language::kEnglish);
  for (auto& [field, value] : told.fields) value = translated(value, wanted);
  return told;
}

LanguageText tell_fact(const Fact& fact, const FactKinds& kinds) {
  const auto kind = kinds.find(fact.kind);
  LanguageText told;
  if (kind == kinds.end()) {
    for (const auto& [field, value] : fact.fields) told["en"] += field + "=" + value + " ";
    told["zh"] = told["en"];
    return told;
  }
  for (const LanguageText& sentence : kind->second.sentences) {
    bool complete = true;
    for (const auto& [lang, text] : sentence)
      told[lang] = fill_sections(text, in_language(fact, lang), complete);
    if (complete) break;
  }
  return told;
}

std::set<std::string> fields_in(const std::string& text) {
  std::set<std::string> fields;
  for (size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const size_t close = text.find('}', at);
    if (close != std::string::npos) fields.insert(between(text, at, close));
  }
  return fields;
}

}  // namespace clvet
