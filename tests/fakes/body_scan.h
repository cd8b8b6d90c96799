// Constructs of one function body, found by looking at its tokens and declarations.
#pragma once

#include <set>
#include <string>

#include "tests/fakes/tokens.h"

namespace fake_cl {

// Adds the constructs of `function` (return type to closing brace, typedefs replaced) to `found`,
// with the helper marks "~int_load" and "~nibble" that `conclude` turns into weight constructs.
void scan_body(const Tokens& function, std::set<std::string>& found);
// Adds what follows from the build options and from marks of several functions together.
void conclude(const std::string& options, std::set<std::string>& found);

}  // namespace fake_cl
