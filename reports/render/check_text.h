// A check record for a person at a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/check/check_record.h"

namespace clvet {

// What keeps the model from running first, then what it is made of, then each device. With
// `all_nodes`, every node of a network; else those that are not on OpenCL.
std::string check_text(const CheckRecord& record, bool all_nodes);

// "85.3 MiB": binary units.
std::string readable_bytes(int64_t bytes);

}  // namespace clvet
