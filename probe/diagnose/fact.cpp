#include "probe/diagnose/fact.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "probe/data/embedded_json.h"

namespace clvet {
namespace {

// The end of the {field} or [section] that begins at `open`; npos: it does not end.
size_t end_of(const std::string& text, size_t open) {
  return text.find(text[open] == '{' ? '}' : ']', open);
}

std::string between(const std::string& text, size_t open, size_t close) {
  return text.substr(open + 1, close - open - 1);
}

FactKind read_kind(const nlohmann::json& json) {
  FactKind kind;
  kind.fields = json.at("fields").get<std::set<std::string>>();
  for (const auto& row : json.at("say")) kind.sentences.push_back(row.get<LanguageText>());
  return kind;
}

}  // namespace

const std::string& Fact::at(const std::string& field) const {
  static const std::string none;
  const auto found = fields.find(field);
  return found == fields.end() ? none : found->second;
}

Result<FactKinds> fact_kinds() {
  CLVET_ASSIGN_OR_RETURN(const nlohmann::json json, embedded_json("advice/facts.json"));
  FactKinds kinds;
  try {
    for (const auto& [name, row] : json.at("kinds").items()) kinds[name] = read_kind(row);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "advice/facts.json: {}", error.what());
  }
  return kinds;
}

std::string fill_fields(const std::string& text, const Fact& fact, const std::string& missing,
                        bool& complete) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t open = text.find_first_of("{[", at);
    const size_t close = open == std::string::npos ? open : end_of(text, open);
    if (close == std::string::npos) break;
    out += text.substr(at, open - at);
    at = close + 1;
    const std::string inner = between(text, open, close);
    if (text[open] == '[') {
      bool whole = true;
      const std::string section = fill_fields(inner, fact, missing, whole);
      if (whole) out += section;
      continue;
    }
    const std::string& value = fact.at(inner);
    complete &= !value.empty();
    out += value.empty() ? missing : value;
  }
  return out + text.substr(std::min(at, text.size()));
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
    for (const auto& [lang, text] : sentence) told[lang] = fill_fields(text, fact, "", complete);
    if (complete) break;
  }
  return told;
}

std::set<std::string> fields_in(const std::string& text) {
  std::set<std::string> fields;
  for (size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const size_t close = end_of(text, at);
    if (close != std::string::npos) fields.insert(between(text, at, close));
  }
  return fields;
}

}  // namespace clvet
