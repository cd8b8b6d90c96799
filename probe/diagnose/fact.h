// What was seen, as data. The sentence about it is made where it is shown.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace clvet {

using LanguageText = std::map<std::string, std::string>;  // by language: en, zh

// One thing that was seen: its kind, and values of the fields that the kind declares.
struct Fact {
  std::string kind;
  std::map<std::string, std::string> fields;
  // Empty where the fact gives none.
  const std::string& at(const std::string& field) const;
};

// A row of probe/data/advice/facts.json.
struct FactKind {
  std::set<std::string> fields;
  std::vector<LanguageText> sentences;  // the first whose fields all have a value, else the last
};
using FactKinds = std::map<std::string, FactKind>;

// Those that are built in, read once. kInternal: the file is not in order, our own fault.
const Result<FactKinds>& fact_kinds();

// The fact with its values in `language` ("en", "zh"): names stay, sentences and words are
// translated.
Fact in_language(const Fact& fact, const std::string& language);

// The sentence about a fact; of a kind that is not declared, its fields.
LanguageText tell_fact(const Fact& fact, const FactKinds& kinds);

// `text` with each {field} filled in. `missing` stands for an empty field; `complete` turns false
// where there is one.
std::string fill_fields(const std::string& text, const Fact& fact, const std::string& missing,
                        bool& complete);
// The same, without the [sections] in which a field is empty: sentences of facts have them.
std::string fill_sections(const std::string& text, const Fact& fact, bool& complete);
// The names of the fields in a text.
std::set<std::string> fields_in(const std::string& text);

}  // namespace clvet
