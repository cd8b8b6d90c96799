#include "kernels/fields.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"
#include "kernels/expr.h"

namespace clvet {
namespace {

bool has_test(const std::vector<TestShape>& tests, std::string_view name) {
  return std::any_of(tests.begin(), tests.end(),
                     [&](const TestShape& test) { return test.name == name; });
}

void check_known(const Json& object, const std::string& prefix,
                 std::span<const char* const> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw FieldError("'{}' is not a known field", prefix + key);
    }
  }
}

}  // namespace

Status read_fields(const std::string& path, const std::string& text,
                   std::span<const char* const> known,
                   const std::function<void(const Json&)>& read) {
  try {
    const Json root = Json::parse(text);
    if (!root.is_object()) throw FieldError("the file must hold one JSON object");
    check_known(root, "", known);
    read(root);
  } catch (const FieldError& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", path, error.message);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", path, error.what());
  }
  return {};
}

const Json& required_field(const Json& object, const std::string& field) {
  if (!object.contains(field)) throw FieldError("field '{}' is missing", field);
  return object.at(field);
}

std::vector<std::string> strings_of(const Json& object, const std::string& field) {
  return optional_field<std::vector<std::string>>(object, field, "a list of strings")
      .value_or(std::vector<std::string>{});
}

void read_list(const Json& object, const std::string& field, std::span<const char* const> known,
               const std::function<void(const std::string& entry, const Json&)>& read) {
  if (!object.contains(field)) return;
  const Json& list = object.at(field);
  if (!list.is_array()) throw FieldError("field '{}' must be {}", field, "a list");
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string entry = field + "[" + std::to_string(i) + "]";
    if (!list[i].is_object()) throw FieldError("field '{}' must be {}", entry, "an object");
    check_known(list[i], entry + ".", known);
    read(entry, list[i]);
  }
}

std::vector<TestShape> tests_of(const Json& object) {
  static constexpr std::array kKnown = {"name", "dims", "scalars"};
  std::vector<TestShape> tests;
  read_list(object, "tests", kKnown, [&](const std::string& entry, const Json& value) {
    const std::string prefix = entry + ".";
    TestShape test;
    test.name = optional_field<std::string>(value, "name", "a string", prefix).value_or("");
    test.dims =
        optional_field<Dims>(value, "dims", "an object of integers", prefix).value_or(Dims{});
    test.scalars = optional_field<Scalars>(value, "scalars", "an object of numbers", prefix)
                       .value_or(Scalars{});
    if (test.name.empty()) throw FieldError("field '{}' is missing", prefix + "name");
    if (has_test(tests, test.name))
      throw FieldError("field '{}' names '{}' twice", entry, test.name);
    tests.push_back(std::move(test));
  });
  return tests;
}

void check_expression(const std::string& field, const std::string& text) {
  if (auto names = expr_names(text); !names)
    throw FieldError("field '{}': {}", field, names.error().message);
}

void check_names_of_tests(const std::string& field, const std::vector<std::string>& names,
                          const std::vector<TestShape>& tests) {
  for (const std::string& name : names) {
    if (!has_test(tests, name)) {
      throw FieldError("field '{}' names '{}', which is not a test", field, name);
    }
  }
}

}  // namespace clvet
