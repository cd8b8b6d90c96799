// Words of documents in the language of this process.
#pragma once

#include <cstddef>
#include <string>

#include "base/language.h"
#include "probe/report/report.h"

namespace clvet {

// The word of an enumeration: "crash", "usable", "host", ...
template <class E>
std::string shown(E value) {
  return translated(to_string(value));
}

// What ended badly, and in which stage: "crash in build (signal 6)".
std::string shown_event(Verdict verdict, Stage stage, int signal);

// "1 case", "3 cases".
std::string shown_cases(size_t count);

std::string shown_node(const DeviceNode& node);

}  // namespace clvet
