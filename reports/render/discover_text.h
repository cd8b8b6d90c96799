// `clvet discover` for a person at a terminal.
#pragma once

#include <string>

#include "probe/diagnose/diagnosis.h"

namespace clvet {

// Devices (or, of a tree, the drivers that open), what else was found and why it is no use, what
// stands in the way with what to do about it, and the framework's own words.
std::string discover_text(const Diagnosis& diagnosis);

}  // namespace clvet
