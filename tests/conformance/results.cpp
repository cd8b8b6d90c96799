#include "tests/conformance/results.h"

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/conformance/run_case.h"

namespace clvet::conformance {

nlohmann::json to_json(const CaseResult& result) {
  nlohmann::json blames = nlohmann::json::array();
  for (const Blame& row : result.blames) {
    blames.push_back({{"op", clean_utf8(row.op)}, {"why", clean_utf8(row.why)}});
  }
  return {{"case", result.name},
          {"result", result.word},
          {"detail", clean_utf8(result.detail)},
          {"blames", std::move(blames)}};
}

std::vector<CaseResult> read_results(const std::string& path) {
  std::vector<CaseResult> results;
  const auto text = read_file(path);
  if (!text) return results;
  for (const std::string& line : split(*text, '\n')) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    CaseResult row{json.at("case"), json.at("result"), json.at("detail"), {}};
    for (const auto& blame : json.at("blames")) row.blames.push_back({blame["op"], blame["why"]});
    results.push_back(std::move(row));
  }
  return results;
}

}  // namespace clvet::conformance
