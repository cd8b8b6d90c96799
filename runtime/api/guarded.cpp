#include "runtime/api/guarded.h"

#include "base/result.h"
#include "clvet/result.h"

namespace clvet::v1 {
namespace {

ErrorCode code_of(::clvet::ErrorCode code) {
  switch (code) {
    case ::clvet::ErrorCode::kInvalidArgument:
      return ErrorCode::invalid_argument;
    case ::clvet::ErrorCode::kNotFound:
    case ::clvet::ErrorCode::kNoDevice:
      return ErrorCode::not_found;
    case ::clvet::ErrorCode::kUnsupported:
      return ErrorCode::unsupported;
    case ::clvet::ErrorCode::kUnavailable:
    case ::clvet::ErrorCode::kUntested:
    case ::clvet::ErrorCode::kDeadlineExceeded:
      return ErrorCode::unavailable;
    case ::clvet::ErrorCode::kBusy:
      return ErrorCode::busy;
    case ::clvet::ErrorCode::kDeviceError:
      return ErrorCode::device_error;
    case ::clvet::ErrorCode::kResourceExhausted:
      return ErrorCode::resource_exhausted;
    case ::clvet::ErrorCode::kCancelled:
      return ErrorCode::cancelled;
    case ::clvet::ErrorCode::kInternal:
      break;
  }
  return ErrorCode::internal;
}

}  // namespace

Error public_error(const ::clvet::Error& error) { return {code_of(error.code), error.message}; }

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid argument";
    case ErrorCode::not_found:
      return "not found";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::stale:
      return "stale";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::device_error:
      return "device error";
    case ErrorCode::resource_exhausted:
      return "resource exhausted";
    case ErrorCode::internal:
      break;
  }
  return "internal error";
}

}  // namespace clvet::v1
