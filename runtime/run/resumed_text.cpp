#include "runtime/run/resumed_text.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/exec/flight.h"

namespace clvet {

std::string ResumedText::next(std::string_view piece) {
  if (before_.bytes == 0) return std::string(piece);
  held_ += piece;
  if (held_.size() < before_.bytes) return {};
  const auto known = static_cast<size_t>(before_.bytes);
  now_.add(std::string_view(held_).substr(0, known));
  const std::string text = std::exchange(held_, {});
  const bool same = now_ == std::exchange(before_, {});
  return same ? text.substr(known) : "\n" + text;
}

std::string ResumedText::rest() {
  if (held_.empty()) return {};
  before_ = {};
  return "\n" + std::exchange(held_, {});
}

}  // namespace clvet
