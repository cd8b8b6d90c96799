// What a bug report needs to know of a machine's OpenCL, in ten lines that may be shown to anybody.
#pragma once

#include <string>
#include <vector>

#include "probe/report/report.h"

namespace clvet {

// Always ten lines of at most about 300 bytes. `private_words` (user and host names) and those that
// the report's paths give away are left out; see Redactor. What drivers printed is never quoted.
std::string bug_summary(const Report& report, const std::vector<std::string>& private_words);

}  // namespace clvet
