// The one error type of clvet and the `Result` that carries it.
//
// A driver's misbehaviour is never an Error: it is a verdict (probe/report/report.h). An Error is
// ours or the user's, and its code says what the caller may do about it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>  // IWYU pragma: export
#include <utility>

namespace clvet {

enum class ErrorCode {
  kInvalidArgument,    // the caller's value, file or model is wrong; ask for another
  kNotFound,           // a named thing does not exist; name another
  kUnsupported,        // known, and never possible here; choose another way
  kUnavailable,        // not possible now (no device, no report); skip or try later
  kBusy,               // another process holds it; wait for its end
  kNoDevice,           // no device is meant by the selector; name another
  kUntested,           // no trial has shown yet whether it works here; probe, then try again
  kDeviceError,        // the driver refused or failed a call; fall back
  kResourceExhausted,  // too large; try a smaller one
  kDeadlineExceeded,   // ran out of time; keep what is there
  kCancelled,          // the caller wanted no answer any more
  kInternal,           // our own bug; report it
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one line: what, which file or call, and the next step where there is one
  int cl_error = 0;     // the raw OpenCL code where a driver call failed, else 0
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...), 0});
}

// The same error with `text: ` put before its message, for context on the way up.
inline tl::unexpected<Error> wrap(Error error, const std::string& text) {
  error.message = text + ": " + error.message;
  return tl::unexpected<Error>(std::move(error));
}

const char* to_string(ErrorCode code);

}  // namespace clvet

#define CLVET_CONCAT_INNER(a, b) a##b
#define CLVET_CONCAT(a, b) CLVET_CONCAT_INNER(a, b)
#define CLVET_RETURN_IF_ERROR(expression)                                     \
  do {                                                                        \
    if (auto clvet_status = (expression); !clvet_status) {                    \
      return tl::unexpected<::clvet::Error>(std::move(clvet_status).error()); \
    }                                                                         \
  } while (false)
#define CLVET_ASSIGN_OR_RETURN_IMPL(temporary, target, expression)       \
  auto temporary = (expression);                                         \
  if (!temporary) {                                                      \
    return tl::unexpected<::clvet::Error>(std::move(temporary).error()); \
  }                                                                      \
  target = std::move(*temporary)
#define CLVET_ASSIGN_OR_RETURN(target, expression) \
  CLVET_ASSIGN_OR_RETURN_IMPL(CLVET_CONCAT(clvet_result_, __LINE__), target, expression)
