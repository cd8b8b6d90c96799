// The library's face: plain cl* names, the ICD entry points, and the constructor.
#include <cstdlib>
#include <cstring>

#include "tests/fakes/actions.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/hooks.h"  // IWYU pragma: keep: the rows of api.inc name its functions

#define FAKE_CL_EXPORT extern "C" __attribute__((visibility("default")))

#define FAKE_CL_API(ret, name, params, args) \
  FAKE_CL_EXPORT ret CL_API_CALL name params { return fake_cl::hooked_##name args; }
#include "tests/fakes/api.inc"
#undef FAKE_CL_API

namespace {

cl_int platforms_for(const char* call, cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  const cl_int code = fake_cl::fire_plain(call);
  if (code == CL_SUCCESS) return fake_cl::target_platforms(room, platforms, count);
  if (count) *count = 0;
  return code;
}

struct Export {
  const char* name;
  void* function;
};

void* own_function(const char* name);

__attribute__((constructor)) void on_load() {
  if (std::getenv("FAKE_CL_SCENARIO")) fake_cl::fire_plain("load");
}

}  // namespace

FAKE_CL_EXPORT cl_int CL_API_CALL clGetPlatformIDs(cl_uint room, cl_platform_id* platforms,
                                                   cl_uint* count) {
  return platforms_for("clGetPlatformIDs", room, platforms, count);
}

FAKE_CL_EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* platforms,
                                                         cl_uint* count) {
  return platforms_for("clIcdGetPlatformIDsKHR", room, platforms, count);
}

FAKE_CL_EXPORT void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (!name) return nullptr;
  fake_cl::fire_plain("clGetExtensionFunctionAddress");
  if (void* own = own_function(name)) return own;
  return fake_cl::target_extension_function(name);
}

// Google's pair, which libfake_cl_google.so exports alone: nothing is given before it is enabled.
namespace {
bool enabled = false;
}
FAKE_CL_EXPORT void enableOpenCL() { enabled = true; }
FAKE_CL_EXPORT void* loadOpenCLPointer(const char* name) {
  return enabled && name ? own_function(name) : nullptr;
}

namespace {

void* own_function(const char* name) {
  static const Export kExports[] = {
      {"clIcdGetPlatformIDsKHR", reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR)},
      {"clGetPlatformIDs", reinterpret_cast<void*>(&clGetPlatformIDs)},
#define FAKE_CL_API(ret, name, params, args) {#name, reinterpret_cast<void*>(&name)},
#include "tests/fakes/api.inc"
#undef FAKE_CL_API
  };
  for (const Export& row : kExports) {
    if (std::strcmp(row.name, name) == 0) return row.function;
  }
  return nullptr;
}

}  // namespace
