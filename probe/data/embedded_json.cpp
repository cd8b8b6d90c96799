#include "probe/data/embedded_json.h"

#include <string_view>

#include "base/embedded.h"
#include "base/json.h"
#include "base/result.h"
#include "embedded_probe_data.h"

namespace clvet {

Result<nlohmann::json> embedded_json(std::string_view path) {
  for (const EmbeddedFile& file : embedded_probe_data()) {
    if (file.path != path) continue;
    auto json = nlohmann::json::parse(file.text, nullptr, false);
    if (json.is_discarded()) break;
    return json;
  }
  return fail(ErrorCode::kInternal, "clvet's own data file {} is missing or malformed", path);
}

}  // namespace clvet
