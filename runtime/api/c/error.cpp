// Codes, and what the last call that failed said.
#include <cstdint>
#include <exception>
#include <string>

#include "base/version.h"
#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "runtime/api/c/call.h"

namespace clvet::v1::c {
namespace {

thread_local std::string last_error;

clvet_code code_of(ErrorCode code) { return static_cast<clvet_code>(code) + 1; }

static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == CLVET_INVALID_ARGUMENT &&
              static_cast<int>(ErrorCode::stale) + 1 == CLVET_STALE &&
              static_cast<int>(ErrorCode::internal) + 1 == CLVET_INTERNAL);

}  // namespace

clvet_code failed(const Error& error) noexcept {
  // Each of these is short enough to need no memory.
  const char* short_text =
      error.code == ErrorCode::resource_exhausted ? "out of memory" : "clvet's fault";
  try {
    last_error = error.message.empty() ? short_text : error.message;
  } catch (const std::exception&) {
    last_error = short_text;
  }
  return code_of(error.code);
}

}  // namespace clvet::v1::c

int32_t clvet_abi() { return CLVET_ABI; }
const char* clvet_version() { return clvet::kVersion; }
const char* clvet_last_error() { return clvet::v1::c::last_error.c_str(); }

const char* clvet_code_name(clvet_code code) {
  if (code == CLVET_OK) return "ok";
  if (code < CLVET_INVALID_ARGUMENT || code > CLVET_INTERNAL) return "unknown code";
  return to_string(static_cast<clvet::v1::ErrorCode>(code - 1));
}
