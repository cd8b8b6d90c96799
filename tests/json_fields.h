// Reads and changes fields of JSON documents, for tests that need no more of the JSON library than
// that.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace clvet::test {

// Fields are named by JSON pointers ("/rows/0/name"; "": the whole). What is not as asked for
// throws, which fails the test.
class JsonFields {
 public:
  explicit JsonFields(std::string_view document);

  bool has(const std::string& field) const;
  // As JSON, blanks left out: "\"word\"", "1.5", "null", "[1,2]".
  std::string json(const std::string& field) const;
  std::string text(const std::string& field) const;
  std::vector<std::string> texts(const std::string& field) const;
  std::vector<double> numbers(const std::string& field) const;
  // How many fields an object or array has, and their names ("0", "1", ... those of an array).
  size_t size(const std::string& field) const;
  std::vector<std::string> names(const std::string& field) const;

 private:
  std::shared_ptr<const nlohmann::json> document_;
};

// The document with one field set to a value, written as JSON; an empty one removes the field.
std::string with_field(std::string_view document, const std::string& field, std::string_view value);

}  // namespace clvet::test
