#include "tests/json_fields.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace clvet::test {
namespace {

using Pointer = nlohmann::json::json_pointer;

}  // namespace

JsonFields::JsonFields(std::string_view document)
    : document_(std::make_shared<nlohmann::json>(nlohmann::json::parse(document))) {}

bool JsonFields::has(const std::string& field) const { return document_->contains(Pointer(field)); }

std::string JsonFields::json(const std::string& field) const {
  return document_->at(Pointer(field)).dump();
}

std::string JsonFields::text(const std::string& field) const {
  return document_->at(Pointer(field)).get<std::string>();
}

std::vector<std::string> JsonFields::texts(const std::string& field) const {
  return document_->at(Pointer(field)).get<std::vector<std::string>>();
}

std::vector<double> JsonFields::numbers(const std::string& field) const {
  return document_->at(Pointer(field)).get<std::vector<double>>();
}

size_t JsonFields::size(const std::string& field) const {
  return document_->at(Pointer(field)).size();
}

std::vector<std::string> JsonFields::names(const std::string& field) const {
  std::vector<std::string> found;
  for (const auto& [name, value] : document_->at(Pointer(field)).items()) found.push_back(name);
  return found;
}

std::string with_field(std::string_view document, const std::string& field,
                       std::string_view value) {
  auto json = nlohmann::json::parse(document);
  const Pointer place(field);
  if (value.empty()) {
    json.at(place.parent_pointer()).erase(place.back());
  } else {
    json[place] = nlohmann::json::parse(value);
  }
  return json.dump();
}

}  // namespace clvet::test
