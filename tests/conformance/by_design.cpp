#include "tests/conformance/by_design.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet::conformance {
namespace {

bool is_integer(DType dtype) { return !is_float(dtype); }

bool all_integer(std::span<const DType> types) {
  return std::all_of(types.begin(), types.end(), is_integer);
}

}  // namespace

Result<HostByDesign> HostByDesign::read(const std::string& path) {
  static const std::map<std::string, When> kWords = {{"always", When::kAlways},
                                                     {"integers", When::kIntegers},
                                                     {"integer side", When::kIntegerSide}};
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return fail(ErrorCode::kInvalidArgument, "{}: not a JSON list", path);
  HostByDesign list;
  for (const auto& group : json) {
    const auto word = kWords.find(group.value("when", ""));
    if (word == kWords.end() || group.value("why", "").empty()) {
      return fail(ErrorCode::kInvalidArgument, "{}: a row needs 'when' (always, ...) and 'why'",
                  path);
    }
    for (const auto& op : group.at("operators")) {
      if (!list.rows_.emplace(op.get<std::string>(), word->second).second) {
        return fail(ErrorCode::kInvalidArgument, "{}: {} is listed twice", path,
                    op.get<std::string>());
      }
    }
  }
  return list;
}

bool HostByDesign::covers(const std::string& op, std::span<const DType> inputs,
                          std::span<const DType> outputs) const {
  const auto row = rows_.find(op);
  if (row == rows_.end()) return false;
  if (row->second == When::kAlways) return true;
  if (row->second == When::kIntegers)
    return !inputs.empty() && is_integer(inputs.front()) && all_integer(outputs);
  return all_integer(outputs) || std::any_of(inputs.begin(), inputs.end(), is_integer);
}

}  // namespace clvet::conformance
