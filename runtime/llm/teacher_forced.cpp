#include "runtime/llm/teacher_forced.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"

namespace clvet {
namespace {

constexpr size_t kMostBytes = size_t{1} << 26;

template <class T>
Result<std::vector<T>> numbers(const nlohmann::json& row, const char* field,
                               const std::string& where, bool optional = false) {
  std::vector<T> out;
  const auto found = row.find(field);
  if (found == row.end() && optional) return out;
  if (found == row.end() || !found->is_array()) {
    return fail(ErrorCode::kInvalidArgument, "{}: '{}' is not an array", where, field);
  }
  for (const auto& value : *found) {
    const double number = value.is_number() ? value.get<double>() : NAN;
    const bool whole = number >= 0 && number <= INT32_MAX && number == std::floor(number);
    if (!std::isfinite(number) || (std::is_integral_v<T> && !whole)) {
      return fail(ErrorCode::kInvalidArgument, "{}: '{}' contains {}, which is not a valid number",
                  where, field, value.dump());
    }
    out.push_back(static_cast<T>(number));
  }
  return out;
}

Result<TeacherForcedCase> read_case(const nlohmann::json& row, const std::string& where) {
  TeacherForcedCase out;
  if (!row.is_object()) return fail(ErrorCode::kInvalidArgument, "{} is not an object", where);
  CLVET_ASSIGN_OR_RETURN(out.prompt, numbers<int32_t>(row, "prompt_ids", where));
  CLVET_ASSIGN_OR_RETURN(out.chosen, numbers<int32_t>(row, "greedy_ids", where));
  CLVET_ASSIGN_OR_RETURN(out.margins, numbers<double>(row, "top1_top2_margin", where));
  CLVET_ASSIGN_OR_RETURN(out.exact,
                         numbers<int32_t>(row, "fp32_teacher_forced_argmax", where, true));
  CLVET_ASSIGN_OR_RETURN(out.exact_margins, numbers<double>(row, "fp32_margin", where, true));
  const bool fits = !out.prompt.empty() && out.margins.size() == out.chosen.size() &&
                    out.exact.size() == out.exact_margins.size() &&
                    (out.exact.empty() || out.exact.size() == out.chosen.size());
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: its fields have different lengths, or the prompt is empty", where);
  }
  return out;
}

void count_token(const TeacherForcedCase& one, size_t i, std::span<const float> logits,
                 TeacherForcedCount& count) {
  const auto best =
      static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  if (one.margins[i] > kMargin) {
    ++count.of;
    count.right += best == one.chosen[i];
  }
  if (!one.exact.empty() && one.exact_margins[i] > kExactMargin) {
    ++count.exact_of;
    count.exact += best == one.exact[i];
  }
}

}  // namespace

Result<std::vector<TeacherForcedCase>> read_teacher_forced(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMostBytes));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto rows = json.is_object() ? json.find("cases") : json.end();
  if (!json.is_object() || rows == json.end() || !rows->is_array() || rows->empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: not a file of reference tokens: it has no 'cases'", path);
  }
  std::vector<TeacherForcedCase> cases;
  for (const auto& row : *rows) {
    const std::string where = fmt::format("{}: cases[{}]", path, cases.size());
    CLVET_ASSIGN_OR_RETURN(TeacherForcedCase one, read_case(row, where));
    cases.push_back(std::move(one));
  }
  return cases;
}

Result<TeacherForcedCount> compare_teacher_forced(const std::vector<TeacherForcedCase>& cases,
                                                  const TeacherForcedModel& model,
                                                  const EventSink& sink) {
  TeacherForcedCount count;
  for (size_t n = 0; n < cases.size(); ++n) {
    const TeacherForcedCase& one = cases[n];
    if (sink) {
      sink({EventLevel::kProgress, "reference texts", static_cast<int>(n),
            static_cast<int>(cases.size())});
    }
    model.restart();
    std::span<const int32_t> next = one.prompt;
    for (size_t i = 0; i < one.chosen.size(); ++i) {
      CLVET_ASSIGN_OR_RETURN(const std::span<const float> logits, model.take(next));
      count_token(one, i, logits, count);
      next = std::span(one.chosen).subspan(i, 1);
    }
  }
  return count;
}

}  // namespace clvet
