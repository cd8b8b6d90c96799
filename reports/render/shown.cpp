#include "reports/render/shown.h"

#include <cstddef>
#include <string>

#include "base/language.h"
#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {

// These formats hold little text, so translated() would find them in many other sentences. They
// begin with a blank, which no sentence does; it is trimmed off the result.
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
