// What is wrong with a report's JSON, and where in the document.
#pragma once

#include <string>

namespace clvet {

// Empty: nothing is.
std::string fault_of_report(const std::string& text);
std::string fault_of_verdict(const std::string& text);

}  // namespace clvet
