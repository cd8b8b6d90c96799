// The names of all cases that there are, for what a user asks for. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"

namespace clvet {

// True where the name contains the pattern, in which `*` stands for any text.
bool names_case(const std::string& pattern, const std::string& name);

// kInvalidArgument where one of the patterns means no case of any tier or device; the message gives
// the names that are nearest to it.
Status check_case_patterns(const Catalog& catalog, const std::vector<std::string>& patterns);

}  // namespace clvet
