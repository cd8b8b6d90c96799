// What `clvet bench` measured, for a person at a terminal.
#pragma once

#include <string>

#include "runtime/run/bench_record.h"

namespace clvet {

// A line on where, and a table with one line a measurement.
std::string bench_text(const BenchRecord& record);

}  // namespace clvet
