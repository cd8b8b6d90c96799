#include "tests/conformance/suite.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet::conformance {
namespace {

void collect_operators(const onnx::GraphProto& graph, std::set<std::string>& operators,
                       std::set<std::string>& domains) {
  for (const auto& node : graph.node()) {
    operators.insert(node.op_type());
    domains.insert(node.domain() == "ai.onnx" ? "" : node.domain());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_operators(attribute.g(), operators, domains);
    }
  }
}

// Whether all are tensors whose element types, numbers of ONNX, `accepts` takes.
template <class Values, class Accepts>
bool only_types(const Values& values, Accepts accepts) {
  return std::all_of(values.begin(), values.end(), [&](const onnx::ValueInfoProto& value) {
    return value.type().has_tensor_type() && accepts(value.type().tensor_type().elem_type());
  });
}

Result<Case> read_case(const std::filesystem::path& folder, const Suite& suite) {
  const std::string file = (folder / "model.onnx").string();
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(file));
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !model.has_graph()) {
    return fail(ErrorCode::kInvalidArgument, "{}: not an ONNX model", file);
  }
  Case out{folder.filename().string(), folder.string(), {}};
  std::set<std::string> domains;
  collect_operators(model.graph(), out.operators, domains);
  const auto in_models = [&](const std::string& op) {
    return suite.real_model_operators.contains(op);
  };
  const auto optional = [](const std::string& op) { return op.starts_with("Optional"); };
  const auto left_out = [&](const std::string& op) {
    return suite.left_out_operators.contains(op);
  };
  const auto is_of_class_a = [&](int type) {
    const auto dtype = dtype_of_onnx(type);
    return dtype && suite.types.contains(to_string(*dtype));
  };
  const auto is_number = [&](int type) { return suite.number_types.contains(type); };
  const bool counts =
      !suite.other_answers.contains(out.name) && domains == std::set<std::string>{""};
  out.class_a = counts && only_types(model.graph().input(), is_of_class_a) &&
                only_types(model.graph().output(), is_of_class_a) &&
                std::none_of(out.operators.begin(), out.operators.end(), optional);
  out.of_numbers = counts && only_types(model.graph().input(), is_number) &&
                   only_types(model.graph().output(), is_number) &&
                   std::none_of(out.operators.begin(), out.operators.end(), left_out);
  out.real_model =
      out.class_a && std::all_of(out.operators.begin(), out.operators.end(), in_models);
  return out;
}

Result<std::vector<Case>> list_folder(const std::string& folder, const Suite& suite) {
  std::vector<std::filesystem::path> paths;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    if (std::filesystem::exists(entry.path() / "model.onnx", code)) paths.push_back(entry.path());
  }
  if (paths.empty())
    return fail(ErrorCode::kInvalidArgument, "{}: holds no ONNX node test", folder);
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const auto& path : paths) {
    CLVET_ASSIGN_OR_RETURN(Case row, read_case(path, suite));
    cases.push_back(std::move(row));
  }
  return cases;
}

}  // namespace

Result<Suite> read_suite(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::kInvalidArgument, "{}: not JSON", path);
  Suite suite;
  json.at("package").get_to(suite.package);
  json.at("cases").get_to(suite.cases);
  json.at("class_a").get_to(suite.class_a);
  json.at("real_model").get_to(suite.real_model);
  json.at("all").get_to(suite.all);
  json.at("of_numbers").get_to(suite.of_numbers);
  json.at("groups").get_to(suite.groups);
  json.at("number_types").get_to(suite.number_types);
  json.at("left_out_operators").get_to(suite.left_out_operators);
  json.at("class_a_types").get_to(suite.types);
  json.at("real_model_operators").get_to(suite.real_model_operators);
  json.at("other_answers").get_to(suite.other_answers);
  return suite;
}

Result<std::vector<Case>> list_cases(const std::string& folder, const Suite& suite, bool all) {
  CLVET_ASSIGN_OR_RETURN(auto cases, list_folder(folder, suite));
  if (!all) return cases;
  for (const std::string& group : suite.groups) {
    const auto beside = std::filesystem::path(folder).parent_path() / group;
    CLVET_ASSIGN_OR_RETURN(auto more, list_folder(beside.string(), suite));
    for (Case& row : more) {
      row.name = group + "/" + row.name;
      cases.push_back(std::move(row));
    }
  }
  return cases;
}

Status check_counts(const std::vector<Case>& cases, const Suite& suite, bool all) {
  const auto count = [&](bool Case::*flag) {
    return static_cast<size_t>(
        std::count_if(cases.begin(), cases.end(), [&](const Case& row) { return row.*flag; }));
  };
  if (all) {
    const size_t of_numbers = count(&Case::of_numbers);
    if (cases.size() == suite.all && of_numbers == suite.of_numbers) return {};
    return fail(ErrorCode::kInvalidArgument, "{} cases, {} of numbers; {} has {} and {}",
                cases.size(), of_numbers, suite.package, suite.all, suite.of_numbers);
  }
  const size_t class_a = count(&Case::class_a), real_model = count(&Case::real_model);
  if (cases.size() == suite.cases && class_a == suite.class_a && real_model == suite.real_model) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "{} cases, {} of class A, {} of real models' operators; {} has {}, {} and {}",
              cases.size(), class_a, real_model, suite.package, suite.cases, suite.class_a,
              suite.real_model);
}

}  // namespace clvet::conformance
