// The nodes of a diagnosis as a table for spreadsheets and scripts.
#pragma once

#include <string>

#include "runtime/precision/diagnosis.h"

namespace clvet {

// A header, then a line for each node, in the order of the network: commas between fields, texts in
// quotes where they need them (RFC 4180), lines ended by a newline alone. A name's own line breaks
// become blanks. A text that a spreadsheet would take for a formula begins with '. A node without
// float32 outputs has only its name and op. Lost values make an error `inf`.
std::string diagnosis_csv(const PrecisionDiagnosis& diagnosis);

}  // namespace clvet
