// Reports out of JSON text.
#include <algorithm>  // IWYU pragma: keep
#include <cmath>      // IWYU pragma: keep
#include <cstddef>
#include <exception>
#include <limits>  // IWYU pragma: keep
#include <optional>
#include <stdexcept>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <utility>  // IWYU pragma: keep
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "base/text.h"
#include "kernels/combination.h"       // IWYU pragma: keep
#include "probe/report/peak_fields.h"  // IWYU pragma: keep
#include "probe/report/report.h"
#include "probe/report/report_fault.h"
#include "probe/report/report_json.h"

namespace clvet {
namespace {

#include "probe/report/report_reader.inc"

// A report whose rows of "verdicts", nearly all of it, can be read one by one: as one tree of
// values a document of megabytes takes three times the memory, which a start has to ask of the
// system.
struct Slices {
  std::string rest;                    // the document without the rows
  std::vector<std::string_view> rows;  // each an object, not looked at
};

class Slicer {
 public:
  explicit Slicer(std::string_view text) : text_(text) {}

  // Nothing where the text has another form; it may be no JSON at all.
  std::optional<Slices> slice() {
    constexpr std::string_view kName = "\"verdicts\"";
    int depth = 0;
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c != '"') continue;
      const size_t begin = at_;
      if (!skip_string()) return std::nullopt;
      if (depth != 1 || text_.substr(begin, at_ + 1 - begin) != kName) continue;
      if (!slices_.rest.empty() || !take_rows()) return std::nullopt;
    }
    if (slices_.rest.empty()) return std::nullopt;
    slices_.rest += text_.substr(after_);
    return std::move(slices_);
  }

 private:
  // From the first quote to the last.
  bool skip_string() {
    while (++at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\';
    return at_ < text_.size();
  }

  // The next character that is no blank.
  char next() {
    do {
      ++at_;
    } while (at_ < text_.size() &&
             std::string_view(" \n\t\r").find(text_[at_]) != std::string_view::npos);
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // From its first brace to its last.
  bool skip_object() {
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"' && !skip_string()) return false;
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      if (depth == 0) return true;
    }
    return false;
  }

  // From behind the name to the end of the array.
  bool take_rows() {
    if (next() != ':' || next() != '[') return false;
    slices_.rest = text_.substr(0, at_ + 1);
    char c = next();
    while (c == '{') {
      const size_t begin = at_;
      if (!skip_object()) return false;
      slices_.rows.push_back(text_.substr(begin, at_ + 1 - begin));
      c = next();
      if (c != ',') break;
      c = next();
      if (c != '{') return false;
    }
    after_ = at_;
    return c == ']';
  }

  std::string_view text_;
  size_t at_ = 0, after_ = 0;
  Slices slices_;
};

Report read_report(const std::string& text) {
  const auto slices = Slicer(text).slice();
  if (!slices) return get_report(parsed(text));
  Report report = get_report(parsed(slices->rest));
  report.verdicts.reserve(slices->rows.size());
  for (const std::string_view row : slices->rows)
    report.verdicts.push_back(get_verdict(parsed(row)));
  return report;
}

tl::unexpected<Error> no_report(const std::string& fault, const std::string& source,
                                const char* next_step) {
  std::string message = shorten(clean_utf8(fault), 300);
  for (char& c : message) c = c == '\n' || c == '\t' ? ' ' : c == ';' ? ',' : c;
  return fail(ErrorCode::kInvalidArgument, "{} is no usable report: {}; {}", source, message,
              next_step);
}

}  // namespace

// What is at fault is found by reading once more.
Result<Report> report_from_json(const std::string& text, const std::string& source) {
  try {
    return read_report(text);
  } catch (const std::exception&) {
    return no_report(fault_of_report(text), source, "make a new one with 'clvet probe --out FILE'");
  }
}

Result<VerdictReport> verdict_from_json(const std::string& text) {
  try {
    return get_verdict(parsed(text));
  } catch (const std::exception&) {
    return no_report(fault_of_verdict(text), "the journal's verdict", "start over with --fresh");
  }
}

}  // namespace clvet
