// A thing to do about a finding. Nothing in clvet does it: it goes into a script for a person, or
// into a ChangedView, to see what it would bring.
#pragma once

#include <string>

namespace clvet {

struct Change {
  enum class Kind { kLink, kFile, kMove, kVariable };
  Kind kind = Kind::kLink;
  std::string path;   // of the link, the file, what is moved; the variable's name
  std::string value;  // target, whole text, new path; the variable's value
  bool operator==(const Change&) const = default;
};

}  // namespace clvet
