// The program's version, as reports and --version say it.
#pragma once

namespace clvet {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace clvet
