// A result as a line of JSON: what a worker appends, its parent and the final document read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/conformance/run_case.h"

namespace clvet::conformance {

nlohmann::json to_json(const CaseResult& result);
// The results of a file of such lines. A last line that was cut short is left out.
std::vector<CaseResult> read_results(const std::string& path);

}  // namespace clvet::conformance
