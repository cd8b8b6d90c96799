#include "kernels/manifest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/expr.h"

namespace clvet {
namespace {

using Json = nlohmann::json;

constexpr std::array kFields = {
    "op",    "precisions", "activations", "weights", "weight_types", "args",  "global",
    "tests", "preludes",   "params",      "where",   "pack",         "local", "require",
    "rank",  "constructs", "trial_only",  "tier",    "timed"};

// Thrown inside this file alone: the field and what is wrong with it.
struct FieldError {
  std::string field;
  std::string what;
};

const Json& required(const Json& object, const std::string& field) {
  if (!object.contains(field)) throw FieldError{field, "is missing"};
  return object.at(field);
}

template <class T>
T as(const Json& value, const std::string& field, const char* expected) {
  try {
    return value.get<T>();
  } catch (const Json::exception&) {
    throw FieldError{field, std::string("must be ") + expected};
  }
}

std::vector<std::string> strings(const Json& root, const std::string& field) {
  if (!root.contains(field)) return {};
  return as<std::vector<std::string>>(root.at(field), field, "a list of strings");
}

template <class Enum>
std::vector<Enum> words(const Json& root, const std::string& field,
                        std::optional<Enum> (*parse)(std::string_view)) {
  std::vector<Enum> values;
  for (const std::string& word : strings(root, field)) {
    const std::optional<Enum> value = parse(word);
    if (!value) throw FieldError{field, "has the unknown word '" + word + "'"};
    if (std::find(values.begin(), values.end(), *value) != values.end()) {
      throw FieldError{field, "names '" + word + "' twice"};
    }
    values.push_back(*value);
  }
  return values;
}

template <class T>
std::map<std::string, T> table(const Json& root, const std::string& field) {
  if (!root.contains(field)) return {};
  return as<std::map<std::string, T>>(root.at(field), field, "an object of numbers");
}

ArgSpec arg_of(const std::string& text) {
  static const std::map<std::string, ArgKind, std::less<>> kinds = {
      {"in", ArgKind::kInput},      {"out", ArgKind::kOutput},      {"vector", ArgKind::kVector},
      {"index", ArgKind::kIndices}, {"weights", ArgKind::kWeights}, {"scales", ArgKind::kScales},
      {"int", ArgKind::kInt},       {"float", ArgKind::kFloat}};
  const size_t colon = text.find(':');
  const auto kind = kinds.find(text.substr(0, colon));
  if (kind == kinds.end()) throw FieldError{"args", "has the unknown kind in '" + text + "'"};
  ArgSpec spec;
  spec.kind = kind->second;
  const bool named = spec.kind != ArgKind::kWeights && spec.kind != ArgKind::kScales;
  if (named != (colon != std::string::npos)) {
    throw FieldError{"args", "has '" + text + "': kind:name expected, no name for weights, scales"};
  }
  spec.name = named ? text.substr(colon + 1) : (spec.kind == ArgKind::kWeights ? "w" : "scales");
  if (spec.kind == ArgKind::kInput || spec.kind == ArgKind::kOutput) {
    if (const size_t at = spec.name.find('@'); at != std::string::npos) {
      spec.storage = parse_storage(spec.name.substr(at + 1));
      if (!spec.storage) throw FieldError{"args", "has an unknown storage in '" + text + "'"};
      spec.name.resize(at);
    }
  }
  if (spec.name.empty()) throw FieldError{"args", "has an empty name in '" + text + "'"};
  return spec;
}

TestShape test_of(const Json& value, size_t index) {
  const std::string field = "tests[" + std::to_string(index) + "]";
  if (!value.is_object()) throw FieldError{field, "must be an object"};
  TestShape test;
  for (const auto& [key, item] : value.items()) {
    if (key == "name") {
      test.name = as<std::string>(item, field + ".name", "a string");
    } else if (key == "dims") {
      test.dims = as<Dims>(item, field + ".dims", "an object of integers");
    } else if (key == "scalars") {
      test.scalars = as<Scalars>(item, field + ".scalars", "an object of numbers");
    } else {
      throw FieldError{field + "." + key, "is not a known field"};
    }
  }
  if (test.name.empty()) throw FieldError{field + ".name", "is missing"};
  return test;
}

void read_fields(const Json& root, Manifest& manifest) {
  for (const auto& [key, value] : root.items()) {
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end()) {
      throw FieldError{key, "is not a known field"};
    }
  }
  manifest.op = as<std::string>(required(root, "op"), "op", "a string");
  for (const char* field : {"precisions", "activations", "args", "global", "tests"}) {
    if (required(root, field).empty()) throw FieldError{field, "is empty"};
  }
  manifest.preludes = strings(root, "preludes");
  manifest.precisions = words(root, "precisions", parse_precision);
  manifest.activations = words(root, "activations", parse_storage);
  manifest.weights = words(root, "weights", parse_storage);
  manifest.weight_types = words(root, "weight_types", parse_weight_type);
  manifest.params = table<int64_t>(root, "params");
  manifest.rank = table<int>(root, "rank");
  manifest.where = strings(root, "where");
  manifest.global = strings(root, "global");
  manifest.local = strings(root, "local");
  manifest.require = strings(root, "require");
  manifest.constructs = strings(root, "constructs");
  manifest.timed = strings(root, "timed");
  if (root.contains("pack")) manifest.pack = as<int64_t>(root["pack"], "pack", "an integer");
  if (root.contains("trial_only")) {
    manifest.trial_only = as<bool>(root["trial_only"], "trial_only", "true or false");
  }
  if (root.contains("tier")) {
    if (root["tier"] != "full") throw FieldError{"tier", "must be \"full\" or absent"};
    manifest.full_tier = true;
  }
  for (const std::string& text : strings(root, "args")) manifest.args.push_back(arg_of(text));
  if (!root["tests"].is_array()) throw FieldError{"tests", "must be a list"};
  for (size_t i = 0; i < root["tests"].size(); ++i) {
    manifest.tests.push_back(test_of(root["tests"][i], i));
  }
}

void check_expressions(const Manifest& manifest) {
  const auto check = [](const std::string& field, const std::string& text) {
    if (auto names = expr_names(text); !names) throw FieldError{field, names.error().message};
  };
  for (const std::string& text : manifest.where) check("where", text);
  for (const std::string& text : manifest.global) check("global", text);
  for (const std::string& text : manifest.local) check("local", text);
  for (const ArgSpec& arg : manifest.args) {
    if (arg.kind == ArgKind::kInt) check("args", arg.name);
  }
}

void check_rules(const Manifest& manifest) {
  if (find_op_contract(manifest.op) == nullptr) {
    throw FieldError{"op", "has no contract '" + manifest.op + "' in kernels/reference"};
  }
  if (!manifest.id.starts_with(manifest.op)) {
    throw FieldError{"op", "'" + manifest.op + "' must begin the id '" + manifest.id + "'"};
  }
  if (manifest.weights.empty() != manifest.weight_types.empty()) {
    throw FieldError{"weight_types", "and weights must be given together"};
  }
  if (manifest.pack < 0 || manifest.pack % 16 != 0) {
    throw FieldError{"pack", "must be 0 or a multiple of 16"};
  }
  if (manifest.global.size() > 3) throw FieldError{"global", "has more than 3 dimensions"};
  if (!manifest.local.empty() && manifest.local.size() != manifest.global.size()) {
    throw FieldError{"local", "must have as many dimensions as global"};
  }
  for (const std::string& name : manifest.timed) {
    const bool known = std::any_of(manifest.tests.begin(), manifest.tests.end(),
                                   [&](const TestShape& test) { return test.name == name; });
    if (!known) throw FieldError{"timed", "names '" + name + "', which is no test"};
  }
  const auto outputs =
      std::count_if(manifest.args.begin(), manifest.args.end(),
                    [](const ArgSpec& arg) { return arg.kind == ArgKind::kOutput; });
  if (outputs == 0) throw FieldError{"args", "must hold an output"};
}

}  // namespace

Result<Manifest> parse_manifest(const std::string& path, const std::string& text) {
  const size_t slash = path.rfind('/');
  const size_t parent = slash == std::string::npos ? slash : path.rfind('/', slash - 1);
  if (parent == std::string::npos || !path.ends_with(".json")) {
    return fail(ErrorCode::kInvalidArgument, "{}: a manifest is ops/<family>/<id>.json", path);
  }
  Manifest manifest;
  manifest.id = path.substr(slash + 1, path.size() - slash - 6);
  manifest.family = path.substr(parent + 1, slash - parent - 1);
  try {
    const Json root = Json::parse(text);
    if (!root.is_object()) throw FieldError{"(root)", "must be an object"};
    read_fields(root, manifest);
    check_expressions(manifest);
    check_rules(manifest);
  } catch (const FieldError& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: field '{}' {}", path, error.field, error.what);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", path, error.what());
  }
  return manifest;
}

}  // namespace clvet
