#include "runtime/api/words.h"

#include <optional>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "runtime/run/network_options.h"

namespace clvet::v1 {

::clvet::Result<std::optional<Precision>> precision_named(const std::string& name) {
  if (name == "auto") return std::nullopt;
  if (const auto known = parse_precision(name)) return known;
  return fail(::clvet::ErrorCode::kInvalidArgument,
              "there is no precision '{}': it is auto, low, normal or high", clean_utf8(name));
}

::clvet::Result<std::optional<Memory>> memory_named(const std::string& name) {
  if (name == "auto") return std::nullopt;
  if (const auto known = parse_memory(name)) return known;
  return fail(::clvet::ErrorCode::kInvalidArgument,
              "there is no memory mode '{}': it is auto, low or normal", clean_utf8(name));
}

::clvet::Result<Start> start_named(const std::string& name) {
  if (const auto known = parse_start(name)) return *known;
  return fail(::clvet::ErrorCode::kInvalidArgument,
              "there is no start '{}': it is device or cpu-first", clean_utf8(name));
}

}  // namespace clvet::v1
