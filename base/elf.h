// What an ELF file says of itself, read without loading it.
#pragma once

#include <string>

#include "base/result.h"

namespace clvet {

// The GNU Build-ID as hex digits; empty where the file has none. Errors name the file; every offset
// and size in the file is checked before use.
Result<std::string> read_build_id(const std::string& path);

// The Build-ID, or "sha256:<hex>" of the whole file where it has none.
Result<std::string> file_identity(const std::string& path);

}  // namespace clvet
