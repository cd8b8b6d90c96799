// Runs cases in child processes: one child for many, another after each crash.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/conformance/run_case.h"
#include "tests/conformance/suite.h"

namespace clvet::conformance {

struct Supervision {
  std::vector<std::string> arguments;  // of the child, which is this program
  std::string folder;                  // scratch: list of cases, results, the child's output
  double limit_seconds = 120;          // longest time for one case
  std::function<void(size_t done, size_t total)> progress;
};

// The child reads names from <folder>/cases, one a line, and appends a result for each, in order,
// to <folder>/results. The case in flight when a child ends or is stopped for its time is a crash,
// and the next child goes on behind it. One result a case, in order. kInternal: a child refused.
Result<std::vector<CaseResult>> run_supervised(const std::vector<Case>& cases,
                                               const Supervision& supervision);

// What a child does.
int run_worker(const std::vector<Case>& cases, const RunSettings& settings,
               const std::string& folder);

// A child's exit code where it could not begin.
inline constexpr int kRefused = 2;

}  // namespace clvet::conformance
