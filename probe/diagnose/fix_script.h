// A shell script that a person may run: it says what it would do, does it only with --apply, and
// takes it back with --undo. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/files/change.h"

namespace clvet {

struct ScriptStep {
  std::string why;              // what it is for, one line or more
  std::vector<Change> changes;  // none: to be done by hand
};

// One word of a shell, quoted where it has to be.
std::string shell_word(std::string_view text);

// `root` is the folder that the paths lie below ("": this machine's); CLVET_FIX_ROOT replaces it
// when the script runs. What the script replaces it keeps beside it, so that --undo restores every
// byte, also of a run that was cut short. A path is written once, by the first step that does.
// Below a root it leaves out what lies behind a link, since that may lead out of the tree; then,
// and where another script was there before, it ends with 1.
std::string fix_script(const std::vector<ScriptStep>& steps, const std::string& root);

}  // namespace clvet
