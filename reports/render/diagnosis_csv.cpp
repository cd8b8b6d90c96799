#include "reports/render/diagnosis_csv.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

constexpr std::string_view kHeader =
    "name,op,least,greatest,smallest,largest,overflows,vanishes,nan,isolated,cumulative,fault,"
    "place,value\n";
constexpr size_t kNumbers = 9;  // fields between op and fault

// A spreadsheet runs what begins with these, also after blanks.
bool is_formula(std::string_view text) {
  const std::string_view shown = trim(text);
  return !shown.empty() && std::string_view("=+-@").find(shown.front()) != std::string_view::npos;
}

std::string field(std::string_view anything) {
  constexpr size_t kLongest = 4000;
  std::string text = one_line(anything, kLongest);
  if (is_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string numbers_of(const DiagnosedNode& node) {
  const ValueRange& range = node.range;
  return fmt::format("{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{:.6g},{:.6g}", range.least,
                     range.greatest, range.smallest, range.largest, range.overflows, range.vanishes,
                     range.nan, node.isolated.part(), node.cumulative.part());
}

std::string blame_of(const DiagnosedNode& node) {
  if (!node.blame) return ",,";
  return fmt::format("{},{},{}", to_string(node.blame->fault), to_string(node.blame->place),
                     field(node.blame->value));
}

}  // namespace

std::string diagnosis_csv(const PrecisionDiagnosis& diagnosis) {
  std::string text(kHeader);
  for (const DiagnosedNode& node : diagnosis.nodes) {
    const std::string numbers = node.floats ? numbers_of(node) : std::string(kNumbers - 1, ',');
    text += fmt::format("{},{},{},{}\n", field(node.name), field(node.op), numbers, blame_of(node));
  }
  return text;
}

}  // namespace clvet
