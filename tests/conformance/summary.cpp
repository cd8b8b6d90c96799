#include "tests/conformance/summary.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tests/conformance/run_case.h"
#include "tests/conformance/suite.h"

namespace clvet::conformance {
namespace {

bool counts_for_opencl(const CaseResult& result) {
  return result.word == kOpenCl || result.word == kHostByDesign;
}

struct Row {
  size_t alone = 0, blamed = 0, real_model = 0;
  std::map<std::string, size_t> words, reasons;
};

std::string most_frequent(const std::map<std::string, size_t>& counts) {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::max_element(counts.begin(), counts.end(), less)->first;
}

std::string join(const std::map<std::string, size_t>& counts) {
  std::string text;
  for (const auto& [word, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, count);
  }
  return text;
}

std::map<std::string, Row> rows_of(const std::vector<Case>& cases,
                                   const std::vector<CaseResult>& results) {
  std::map<std::string, Row> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    if (counts_for_opencl(results[i])) continue;
    std::map<std::string, std::string> operators;
    for (const Blame& blame : results[i].blames) operators.emplace(blame.op, blame.why);
    for (const auto& [op, why] : operators) {
      Row& row = rows[op];
      row.alone += operators.size() == 1;
      ++row.blamed;
      row.real_model += cases[i].real_model;
      ++row.words[results[i].word];
      ++row.reasons[why];
    }
  }
  return rows;
}

}  // namespace

Tally tally(const std::vector<Case>& cases, const std::vector<CaseResult>& device,
            const std::vector<CaseResult>& host) {
  Tally out;
  for (size_t i = 0; i < device.size(); ++i) {
    out.class_a_opencl += counts_for_opencl(device[i]);
    out.real_model_opencl += counts_for_opencl(device[i]) && cases[i].real_model;
    out.by_design += device[i].word == kHostByDesign;
  }
  for (size_t i = 0; i < host.size(); ++i) {
    out.class_a_host += host[i].word == kHost;
    out.real_model_host += host[i].word == kHost && cases[i].real_model;
  }
  return out;
}

std::string operator_table(const std::vector<Case>& cases, const std::vector<CaseResult>& results) {
  const auto rows = rows_of(cases, results);
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.alone, a.second.blamed) > std::pair(b.second.alone, b.second.blamed);
  });
  std::string text = fmt::format("{:<28} {:>5} {:>6} {:>10}  {}\n", "operator", "alone", "blamed",
                                 "real-model", "words; most frequent reason");
  for (const auto& [op, row] : sorted) {
    text += fmt::format("{:<28} {:>5} {:>6} {:>10}  {}; {}\n", op, row.alone, row.blamed,
                        row.real_model, join(row.words), shorten(most_frequent(row.reasons), 100));
  }
  return text;
}

std::string word_counts(const std::vector<CaseResult>& results) {
  std::map<std::string, size_t> counts;
  for (const CaseResult& row : results) ++counts[row.word];
  return join(counts);
}

Outcome outcome_of(const std::vector<CaseResult>& results) {
  Outcome out;
  for (const CaseResult& row : results) {
    if (row.word == kUnsupported) {
      ++out.refused;
    } else if (row.word == kWrong || row.word == kCrash) {
      ++out.wrong;
    } else {
      ++out.right;
    }
  }
  return out;
}

std::string final_lines(const Tally& tally, const Suite& suite) {
  return fmt::format(
      "class-A real-model ops, OpenCL: {} of {}\nclass-A, OpenCL: {} of {}\nclass-A, host: {} of "
      "{}\n",
      tally.real_model_opencl, suite.real_model, tally.class_a_opencl, suite.class_a,
      tally.class_a_host, suite.class_a);
}

}  // namespace clvet::conformance
