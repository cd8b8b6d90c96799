#include "kernels/op_trials.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"
#include "kernels/expr.h"
#include "kernels/fields.h"

namespace clvet {
namespace {

constexpr std::string_view kFolder = "reference/", kEnding = ".json";
constexpr std::array kFields = {"tests", "timed", "domains", "examples"};

Result<int64_t> evaluate(const std::string& text, const Dims& dims) {
  return evaluate_expr(text, [&](std::string_view name) -> std::optional<int64_t> {
    const auto found = dims.find(name);
    return found == dims.end() ? std::nullopt : std::optional(found->second);
  });
}

InputDomain domain_of(const std::string& entry, const Json& value) {
  InputDomain domain;
  const std::string prefix = entry + ".";
  const auto text = [&](const char* field, const char* otherwise) {
    return optional_field<std::string>(value, field, "a string", prefix).value_or(otherwise);
  };
  const auto number = [&](const char* field, double otherwise) {
    return optional_field<double>(value, field, "a number", prefix).value_or(otherwise);
  };
  const auto flag = [&](const char* field, bool otherwise) {
    return optional_field<bool>(value, field, "true or false", prefix).value_or(otherwise);
  };
  domain.tensor = text("tensor", "");
  domain.where = text("where", "1");
  domain.low = number("low", domain.low);
  domain.high = number("high", domain.high);
  domain.edges = flag("edges", domain.edges);
  domain.largest_half = flag("largest_half", domain.largest_half);
  check_expression(entry + ".where", domain.where);
  if (domain.low > domain.high)
    throw FieldError("field '{}' has a 'low' that is greater than its 'high'", entry);
  return domain;
}

void read_domains(const Json& root, OpTrials& trials) {
  static constexpr std::array kKnown = {"tensor", "where", "low", "high", "edges", "largest_half"};
  read_list(root, "domains", kKnown, [&](const std::string& entry, const Json& value) {
    trials.domains.push_back(domain_of(entry, value));
    for (const TestShape& test : trials.tests) {
      const auto holds = evaluate(trials.domains.back().where, test.dims);
      if (!holds)
        throw FieldError("field '{}' fails for the test '{}': {}", entry + ".where", test.name,
                         holds.error().message);
    }
  });
}

void read_examples(const Json& root, OpTrials& trials) {
  static constexpr std::array kKnown = {"name", "dims", "scalars", "tensors", "want"};
  read_list(root, "examples", kKnown, [&](const std::string& entry, const Json& value) {
    using Tensors = decltype(CallValues::tensors);
    const auto part = [&]<class T>(const char* field, const T& otherwise) {
      return optional_field<T>(value, field, "of the right type", entry + ".").value_or(otherwise);
    };
    trials.examples.push_back(
        {part("name", std::string()),
         {part("dims", Dims()), part("scalars", Scalars()), part("tensors", Tensors())},
         part("want", Values())});
    if (trials.examples.back().want.empty())
      throw FieldError("field '{}' is missing", entry + ".want");
  });
}

}  // namespace

Result<OpTrials> parse_op_trials(const std::string& path, const std::string& text) {
  OpTrials trials;
  if (path.starts_with(kFolder) && path.ends_with(kEnding)) {
    trials.op = path.substr(kFolder.size(), path.size() - kFolder.size() - kEnding.size());
  }
  if (find_op_contract(trials.op) == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "{}: the op has no contract in kernels/reference",
                path);
  }
  CLVET_RETURN_IF_ERROR(read_fields(path, text, kFields, [&](const Json& root) {
    trials.tests = tests_of(root);
    trials.timed = strings_of(root, "timed");
    check_names_of_tests("timed", trials.timed, trials.tests);
    read_domains(root, trials);
    read_examples(root, trials);
  }));
  return trials;
}

const InputDomain* find_domain(const std::vector<InputDomain>& domains, std::string_view tensor,
                               const Dims& dims) {
  for (const InputDomain& domain : domains) {
    if (!domain.tensor.empty() && domain.tensor != tensor) continue;
    if (evaluate(domain.where, dims).value_or(0) != 0) return &domain;
  }
  return nullptr;
}

}  // namespace clvet
