// Where long work says how it goes. Libraries never print: they tell a sink, and the caller
// renders.
#pragma once

#include <functional>
#include <string>

namespace clvet {

enum class EventLevel { kError, kWarning, kInfo, kDebug, kProgress };

struct Event {
  EventLevel level = EventLevel::kInfo;
  std::string text;
  int done = 0, total = 0;  // progress only
};

using EventSink = std::function<void(const Event&)>;

}  // namespace clvet
