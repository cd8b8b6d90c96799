// What `clvet tune` found, for a terminal.
#pragma once

#include <string>

#include "runtime/run/tune_record.h"

namespace clvet {

std::string tune_text(const TuneRecord& record);

}  // namespace clvet
