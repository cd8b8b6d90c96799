#define JSON_DIAGNOSTICS 1
#include "probe/report/report_fault.h"

#include <fmt/format.h>  // IWYU pragma: keep

#include <algorithm>  // IWYU pragma: keep
#include <cmath>      // IWYU pragma: keep
#include <cstddef>    // IWYU pragma: keep
#include <exception>
#include <limits>     // IWYU pragma: keep
#include <optional>   // IWYU pragma: keep
#include <stdexcept>  // IWYU pragma: keep
#include <string>
#include <string_view>  // IWYU pragma: keep
#include <utility>      // IWYU pragma: keep
#include <vector>       // IWYU pragma: keep

#include "base/json.h"                 // IWYU pragma: keep
#include "base/text.h"                 // IWYU pragma: keep
#include "kernels/combination.h"       // IWYU pragma: keep
#include "probe/report/peak_fields.h"  // IWYU pragma: keep
#include "probe/report/report.h"       // IWYU pragma: keep

namespace clvet {
namespace {

#include "probe/report/report_reader.inc"

template <class Read>
std::string fault_of(const std::string& text, const Read& read) {
  try {
    read(parsed(text));
    return {};
  } catch (const std::exception& fault) {
    return fault.what();
  }
}

}  // namespace

std::string fault_of_report(const std::string& text) { return fault_of(text, get_report); }

std::string fault_of_verdict(const std::string& text) { return fault_of(text, get_verdict); }

}  // namespace clvet
