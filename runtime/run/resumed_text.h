// Text that goes on where an earlier process stopped.
#pragma once

#include <string>
#include <string_view>

#include "runtime/exec/flight.h"

namespace clvet {

// A command that is run again makes its text from the start. What stands on the page already is not
// printed twice; where the new text is another one, it begins on a line of its own.
class ResumedText {
 public:
  explicit ResumedText(const SaidText& before) : before_(before) {}

  // What is to be printed now that `piece` was made.
  std::string next(std::string_view piece);
  // The text ends here.
  std::string rest();

 private:
  SaidText before_, now_;
  std::string held_;  // not printed: it may stand there
};

}  // namespace clvet
