#include "reports/render/shown.h"

#include <cstddef>
#include <string>

#include "base/language.h"
#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {

// A format that is little more than " in " would fit half of all sentences. None begins with a
// blank.
// The blanks at the ends of these formats are cut off again: they keep translated() from taking
// other sentences that hold " in " or " cases" for one of them.
std::string shown_event(Verdict verdict, Stage stage, int signal) {
  const std::string text = tr(" {} in {}", shown(verdict), shown(stage));
  return std::string(trim(text)) + (signal ? tr(" (signal {})", signal) : "");
}

std::string shown_cases(size_t count) {
  return std::string(trim(count == 1 ? tr(" 1 case") : tr(" {} cases", count)));
}

std::string shown_node(const DeviceNode& node) {
  return node.accessible ? node.path : tr("{} (not accessible to this user)", node.path);
}

}  // namespace clvet
