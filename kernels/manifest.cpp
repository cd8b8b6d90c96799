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
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/fields.h"
#include "kernels/op_trials.h"

namespace clvet {
namespace {

constexpr std::array kFields = {
    "op",     "precisions", "activations", "weights",    "weight_types", "args",
    "global", "tests",      "preludes",    "params",     "where",        "pack",
    "local",  "require",    "rank",        "constructs", "trial_only",   "tier",
    "timed",  "shapes",     "text",        "core",       "local_bytes",  "at_once"};

template <class Enum>
std::vector<Enum> words(const Json& root, const std::string& field,
                        std::optional<Enum> (*parse)(std::string_view)) {
  std::vector<Enum> values;
  for (const std::string& word : strings_of(root, field)) {
    const std::optional<Enum> value = parse(word);
    if (!value) throw FieldError("field '{}' has the unknown word '{}'", field, word);
    if (std::find(values.begin(), values.end(), *value) != values.end()) {
      throw FieldError("field '{}' names '{}' twice", field, word);
    }
    values.push_back(*value);
  }
  return values;
}

template <class T>
std::map<std::string, T> table(const Json& root, const std::string& field) {
  return optional_field<std::map<std::string, T>>(root, field, "an object of numbers")
      .value_or(std::map<std::string, T>{});
}

ArgSpec arg_of(const std::string& text) {
  static const std::map<std::string, ArgKind, std::less<>> kinds = {
      {"in", ArgKind::kInput},      {"out", ArgKind::kOutput},      {"vector", ArgKind::kVector},
      {"index", ArgKind::kIndices}, {"weights", ArgKind::kWeights}, {"scales", ArgKind::kScales},
      {"int", ArgKind::kInt},       {"float", ArgKind::kFloat},     {"state", ArgKind::kState}};
  const size_t colon = text.find(':');
  const auto kind = kinds.find(text.substr(0, colon));
  if (kind == kinds.end()) throw FieldError("field 'args' has an unknown kind in '{}'", text);
  ArgSpec spec;
  spec.kind = kind->second;
  const bool only = spec.kind == ArgKind::kWeights || spec.kind == ArgKind::kScales;
  if (!only && colon == std::string::npos) {
    throw FieldError("field 'args' has '{}'; write kind:name, or weights or scales alone", text);
  }
  spec.name = colon != std::string::npos ? text.substr(colon + 1) : "w";
  const bool tensor = spec.kind != ArgKind::kInt && spec.kind != ArgKind::kFloat;
  if (const size_t mark = spec.name.find('?'); tensor && mark != std::string::npos) {
    spec.where = spec.name.substr(mark + 1);
    spec.name.resize(mark);
    if (spec.where.empty()) throw FieldError("field 'args' has an empty condition in '{}'", text);
    if (spec.kind != ArgKind::kInput && spec.kind != ArgKind::kVector &&
        spec.kind != ArgKind::kIndices) {
      throw FieldError(
          "field 'args' has a condition in '{}', where only inputs, vectors and indices "
          "may have one",
          text);
    }
  }
  if (spec.kind == ArgKind::kInput || spec.kind == ArgKind::kOutput) {
    if (const size_t at = spec.name.find('@'); at != std::string::npos) {
      spec.storage = parse_storage(spec.name.substr(at + 1));
      if (!spec.storage) throw FieldError("field 'args' has an unknown storage in '{}'", text);
      spec.name.resize(at);
    }
  }
  if (spec.name.empty()) throw FieldError("field 'args' has an empty name in '{}'", text);
  return spec;
}

void read_kernel(const Json& root, Manifest& manifest) {
  for (const char* field : {"precisions", "activations", "args", "global"}) {
    if (required_field(root, field).empty()) throw FieldError("field '{}' is empty", field);
  }
  manifest.text = optional_field<std::string>(root, "text", "a string").value_or(manifest.id);
  manifest.preludes = strings_of(root, "preludes");
  manifest.precisions = words(root, "precisions", parse_precision);
  manifest.activations = words(root, "activations", parse_storage);
  manifest.weights = words(root, "weights", parse_storage);
  manifest.weight_types = words(root, "weight_types", parse_weight_type);
  manifest.params = table<int64_t>(root, "params");
  manifest.where = strings_of(root, "where");
  manifest.pack = optional_field<int64_t>(root, "pack", "an integer").value_or(0);
  for (const std::string& text : strings_of(root, "args")) manifest.args.push_back(arg_of(text));
  manifest.global = strings_of(root, "global");
  manifest.local = strings_of(root, "local");
  manifest.require = strings_of(root, "require");
  manifest.constructs = strings_of(root, "constructs");
}

void read_use(const Json& root, Manifest& manifest) {
  manifest.rank = table<int>(root, "rank");
  manifest.core = strings_of(root, "core");
  manifest.local_bytes = optional_field<int64_t>(root, "local_bytes", "an integer").value_or(0);
  manifest.at_once = optional_field<int64_t>(root, "at_once", "an integer").value_or(0);
  manifest.trial_only = optional_field<bool>(root, "trial_only", "true or false").value_or(false);
  manifest.full_tier = root.contains("tier");
  if (manifest.full_tier && root["tier"] != "full") {
    throw FieldError("field 'tier' must be \"full\" or absent");
  }
}

bool takes(const Manifest& manifest, const TestShape& test) {
  const Status holds = check_where(manifest, test.dims);
  if (holds) return true;
  if (holds.error().code == ErrorCode::kUnsupported) return false;
  throw FieldError("field '{}' fails for the test '{}': {}", "where", test.name,
                   holds.error().message);
}

// The op's tests that the manifest is tried on.
std::vector<TestShape> shared_tests(const Json& root, const Manifest& manifest,
                                    const OpTrials& op) {
  const std::vector<std::string> named = strings_of(root, "shapes");
  check_names_of_tests("shapes", named, op.tests);
  std::vector<TestShape> tests;
  for (const TestShape& test : op.tests) {
    const bool wanted =
        !root.contains("shapes") || std::find(named.begin(), named.end(), test.name) != named.end();
    if (wanted && takes(manifest, test)) tests.push_back(test);
  }
  return tests;
}

// Those of the op's timed tests that the manifest has, unless it names its own.
std::vector<std::string> timed_of(const Json& root, const Manifest& manifest, const OpTrials& op) {
  if (root.contains("timed")) {
    const auto timed = strings_of(root, "timed");
    check_names_of_tests("timed", timed, manifest.tests);
    return timed;
  }
  return op.timed;
}

void read_trials(const Json& root, const OpTrials& op, Manifest& manifest) {
  manifest.tests = shared_tests(root, manifest, op);
  for (TestShape& test : tests_of(root)) {
    for (const TestShape& other : manifest.tests) {
      if (other.name == test.name) {
        throw FieldError("field 'tests' names '{}', which already is a test of the op", test.name);
      }
    }
    manifest.tests.push_back(std::move(test));
  }
  if (manifest.tests.empty())
    throw FieldError("field 'tests' is empty, and no test of the op is taken");
  manifest.timed = timed_of(root, manifest, op);
  manifest.domains = op.domains;
}

void check_expressions(const Manifest& manifest) {
  for (const std::string& text : manifest.where) check_expression("where", text);
  for (const std::string& text : manifest.global) check_expression("global", text);
  for (const std::string& text : manifest.local) check_expression("local", text);
  for (const ArgSpec& arg : manifest.args) {
    if (arg.kind == ArgKind::kInt) check_expression("args", arg.name);
  }
}

void check_rules(const Manifest& manifest) {
  if (find_op_contract(manifest.op) == nullptr) {
    throw FieldError("field 'op' is '{}', which has no contract in kernels/reference", manifest.op);
  }
  if (!manifest.id.starts_with(manifest.op)) {
    throw FieldError("field 'op' is '{}', and the id '{}' does not begin with it", manifest.op,
                     manifest.id);
  }
  if (manifest.weights.empty() != manifest.weight_types.empty()) {
    throw FieldError("fields 'weights' and 'weight_types' must be given together");
  }
  if (manifest.pack < 0 || manifest.pack % 16 != 0) {
    throw FieldError("field 'pack' must be 0 or a multiple of 16");
  }
  if (manifest.global.size() > 3) throw FieldError("field 'global' has more than 3 dimensions");
  if (!manifest.local.empty() && manifest.local.size() != manifest.global.size()) {
    throw FieldError("field 'local' must have as many dimensions as 'global'");
  }
  const auto outputs =
      std::count_if(manifest.args.begin(), manifest.args.end(),
                    [](const ArgSpec& arg) { return arg.kind == ArgKind::kOutput; });
  if (outputs == 0) throw FieldError("field 'args' must hold an output");
}

}  // namespace

Result<Manifest> parse_manifest(const std::string& path, const std::string& text,
                                const std::vector<OpTrials>& ops) {
  const size_t slash = path.rfind('/');
  const size_t parent = slash == std::string::npos ? slash : path.rfind('/', slash - 1);
  if (parent == std::string::npos || !path.ends_with(".json")) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: the path of a manifest must be ops/<family>/<id>.json", path);
  }
  Manifest manifest;
  manifest.id = path.substr(slash + 1, path.size() - slash - 6);
  manifest.family = path.substr(parent + 1, slash - parent - 1);
  CLVET_RETURN_IF_ERROR(read_fields(path, text, kFields, [&](const Json& root) {
    manifest.op = field_as<std::string>(required_field(root, "op"), "op", "a string");
    read_kernel(root, manifest);
    read_use(root, manifest);
    check_expressions(manifest);
    check_rules(manifest);
    const auto op = std::find_if(ops.begin(), ops.end(),
                                 [&](const OpTrials& trials) { return trials.op == manifest.op; });
    read_trials(root, op == ops.end() ? OpTrials{} : *op, manifest);
  }));
  return manifest;
}

}  // namespace clvet
