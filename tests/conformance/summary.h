// What the results add up to.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/conformance/run_case.h"
#include "tests/conformance/suite.h"

namespace clvet::conformance {

struct Tally {
  size_t real_model_opencl = 0, class_a_opencl = 0, class_a_host = 0;
  size_t real_model_host = 0, by_design = 0;
};

// Results stand in the order of the cases. `device` is empty where no device was run.
Tally tally(const std::vector<Case>& cases, const std::vector<CaseResult>& device,
            const std::vector<CaseResult>& host);

// One row an operator that kept cases from passing: in how many it is the only one blamed, in how
// many it is blamed at all, how many of those are real-model cases, the words and the most frequent
// reason. Most first.
std::string operator_table(const std::vector<Case>& cases, const std::vector<CaseResult>& results);

// How often each word occurs, in one line.
std::string word_counts(const std::vector<CaseResult>& results);

// Right, wherever it ran; refused; anything else.
struct Outcome {
  size_t right = 0, refused = 0, wrong = 0;
};
Outcome outcome_of(const std::vector<CaseResult>& results);

// The last three lines of a run, as interfaces promise them.
std::string final_lines(const Tally& tally, const Suite& suite);

}  // namespace clvet::conformance
