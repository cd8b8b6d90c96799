// The data files of probe/data/, embedded at build time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace clvet {

// The document `path` relative to probe/data/. kInternal where it is absent or malformed: our own
// fault.
Result<nlohmann::json> embedded_json(std::string_view path);

}  // namespace clvet
