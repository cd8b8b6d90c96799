// OpenCL as a table of function pointers, filled from a library at run time. clvet links no loader.
#pragma once

#include <CL/cl.h>

#include <functional>
#include <string>
#include <vector>

namespace clvet {

struct ClApi {
#define CLVET_CL(name, required) decltype(&::name) name = nullptr;
#include "probe/cl/cl_api.inc"
#undef CLVET_CL

  // Names of required entry points that are still null.
  std::vector<std::string> missing() const;
  int found() const;
};

using SymbolResolver = std::function<void*(const char* name)>;
ClApi api_from_symbols(const SymbolResolver& resolve);

// The entry points that a platform object of an ICD-only library carries in its dispatch table;
// `get_platforms` is the library's clIcdGetPlatformIDsKHR.
ClApi api_from_dispatch(cl_platform_id platform, decltype(&::clGetPlatformIDs) get_platforms);

// "CL_OUT_OF_RESOURCES", or "OpenCL error -9999" for a code without a name.
std::string cl_error_name(cl_int code);

}  // namespace clvet
