#include "runtime/precision/engine_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "probe/data/embedded_json.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

using Json = nlohmann::json;
using Fields = std::map<std::string, std::string>;

constexpr const char* kFile = "advice/engines.json";

// As Python has it, too.
std::string quoted(const std::string& name) {
  return Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Each {field} of which there is a value; all else stays.
std::string filled(const std::string& line, const Fields& fields) {
  std::string text;
  for (size_t at = 0; at < line.size();) {
    const size_t end = line[at] == '{' ? line.find('}', at) : std::string::npos;
    const auto field =
        end == std::string::npos ? fields.end() : fields.find(line.substr(at + 1, end - at - 1));
    if (field == fields.end()) {
      text += line[at++];
      continue;
    }
    text += field->second;
    at = end + 1;
  }
  return text;
}

Fields fields_of(const FileNode& node, const std::map<std::string, std::string>& operators) {
  const auto own = operators.find(node.op);
  return {{"name", node.name},
          {"op", operators.empty()        ? node.op
                 : own == operators.end() ? fmt::format("<{}>", node.op)
                                          : own->second},
          {"reads", fmt::format("{}", fmt::join(node.reads, ","))},
          {"writes", fmt::format("{}", fmt::join(node.writes, ","))}};
}

bool is_of_one_node(const std::string& line) {
  return filled(line, {{"name", ""}, {"op", ""}, {"reads", ""}, {"writes", ""}}) != line;
}

std::vector<std::string> settings_of(const Json& row, std::span<const FileNode> nodes) {
  const auto operators = row.value("operators", std::map<std::string, std::string>());
  std::vector<std::string> names, lines;
  for (const FileNode& node : nodes) names.push_back(quoted(node.name));
  const Fields all{{"nodes", fmt::format("{}", fmt::join(names, ", "))}};
  for (const auto& line : row.at("settings").get<std::vector<std::string>>()) {
    if (!is_of_one_node(line)) {
      lines.push_back(filled(line, all));
      continue;
    }
    for (const FileNode& node : nodes) lines.push_back(filled(line, fields_of(node, operators)));
  }
  return lines;
}

EngineAdvice advice_of(const Json& row, std::span<const FileNode> nodes) {
  return {row.at("name"), row.at("title"),         row.at("keeps") == "nodes", row.at("en"),
          row.at("zh"),   settings_of(row, nodes), row.at("sources")};
}

}  // namespace

Result<std::vector<EngineAdvice>> engine_advice(NumberFormat format,
                                                std::span<const FileNode> nodes) {
  CLVET_ASSIGN_OR_RETURN(const Json data, embedded_json(kFile));
  std::vector<EngineAdvice> advice;
  try {
    for (const Json& row : data.at("engines")) {
      const auto formats = row.at("formats").get<std::vector<std::string>>();
      if (std::find(formats.begin(), formats.end(), to_string(format)) != formats.end())
        advice.push_back(advice_of(row, nodes));
    }
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInternal, "clvet's own data file {} is missing or malformed", kFile);
  }
  return advice;
}

}  // namespace clvet
