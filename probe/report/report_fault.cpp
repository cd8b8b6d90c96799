#define JSON_DIAGNOSTICS 1
#include "probe/report/report_fault.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/peak_fields.h"
#include "probe/report/report.h"

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
