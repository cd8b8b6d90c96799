// What a call of OpenCL gave, as a Result.
#pragma once

#include <fmt/format.h>

#include "base/result.h"
#include "probe/cl/api.h"

namespace clvet {

// kDeviceError for anything but CL_SUCCESS.
inline Status cl_status(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return {};
  return tl::unexpected<Error>(Error{
      ErrorCode::kDeviceError, fmt::format("{} failed: {}", call, cl_error_name(code)), code});
}

// The object that a call made; kDeviceError also where there is none.
template <class Handle>
Result<Handle> checked(Handle handle, cl_int code, const char* call) {
  CLVET_RETURN_IF_ERROR(cl_status(code, call));
  if (!handle) {
    return fail(ErrorCode::kDeviceError, "{} returned success but no object", call);
  }
  return handle;
}

}  // namespace clvet
