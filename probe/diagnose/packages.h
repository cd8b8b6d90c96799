// What a package is called where, and how it is installed: commands that can be typed.
#pragma once

#include <string>

#include "base/result.h"

namespace clvet {

// Of a part of probe/data/advice/packages.json ("loader"): "Debian, Ubuntu: 'sudo apt-get
// install ...'; Fedora: 'sudo dnf install ...'". kInternal: there is no such part, or the file is
// not in order.
Result<std::string> install_commands(const std::string& part);
// `text` with each {install:PART} filled in. kInvalidArgument: one names a part that there is not.
Result<std::string> with_commands(const std::string& text);

}  // namespace clvet
