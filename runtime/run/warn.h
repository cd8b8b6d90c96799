// What a run says at once and keeps in its record.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/event.h"

namespace clvet {

inline void warn(const EventSink& sink, std::vector<std::string>& warnings,
                 const std::string& text) {
  warnings.push_back(text);
  if (sink) sink({EventLevel::kWarning, fmt::format("warning: {}", text)});
}

}  // namespace clvet
