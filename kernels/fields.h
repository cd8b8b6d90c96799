// The JSON files of kernels, field by field. What is wrong with one is thrown as a FieldError and
// becomes an error of the file in read_fields(); nobody else sees it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kernels/catalog.h"

namespace clvet {

using Json = nlohmann::json;

struct FieldError {
  template <class... Args>
  explicit FieldError(fmt::format_string<Args...> text, Args&&... args)
      : message(fmt::format(text, std::forward<Args>(args)...)) {}
  std::string message;  // one sentence that names the field
};

// Parses `text`, an object with no other fields than `known`, and gives it to `read`.
// kInvalidArgument: the message names the path and, where there is one, the field.
Status read_fields(const std::string& path, const std::string& text,
                   std::span<const char* const> known,
                   const std::function<void(const Json&)>& read);

const Json& required_field(const Json& object, const std::string& field);

template <class T>
T field_as(const Json& value, const std::string& field, const char* expected) {
  try {
    return value.get<T>();
  } catch (const Json::exception&) {
    throw FieldError("field '{}' must be {}", field, expected);
  }
}

// What stands under `field`, nothing where it is absent. Errors name it behind `prefix`.
template <class T>
std::optional<T> optional_field(const Json& object, const std::string& field, const char* expected,
                                const std::string& prefix = "") {
  if (!object.contains(field)) return std::nullopt;
  return field_as<T>(object.at(field), prefix + field, expected);
}

// Empty where the field is absent.
std::vector<std::string> strings_of(const Json& object, const std::string& field);

// The objects of a list, each with no other fields than `known`; `read` has the name of the entry
// ("tests[2]") for its own errors. Nothing where the field is absent.
void read_list(const Json& object, const std::string& field, std::span<const char* const> known,
               const std::function<void(const std::string& entry, const Json&)>& read);

// The test shapes of the field "tests", each of a name of its own.
std::vector<TestShape> tests_of(const Json& object);

// That `text` is an expression (kernels/expr.h).
void check_expression(const std::string& field, const std::string& text);

// That each name is one of a test.
void check_names_of_tests(const std::string& field, const std::vector<std::string>& names,
                          const std::vector<TestShape>& tests);

}  // namespace clvet
