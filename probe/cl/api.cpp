#include "probe/cl/api.h"

#include <CL/cl_icd.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace clvet {

std::vector<std::string> ClApi::missing() const {
  std::vector<std::string> names;
#define CLVET_CL(name, required) \
  if (required && !name) names.emplace_back(#name);
#include "probe/cl/cl_api.inc"
#undef CLVET_CL
  return names;
}

int ClApi::found() const {
  int count = 0;
#define CLVET_CL(name, required) count += name != nullptr;
#include "probe/cl/cl_api.inc"
#undef CLVET_CL
  return count;
}

ClApi api_from_symbols(const SymbolResolver& resolve) {
  ClApi api;
#define CLVET_CL(name, required) api.name = reinterpret_cast<decltype(api.name)>(resolve(#name));
#include "probe/cl/cl_api.inc"
#undef CLVET_CL
  return api;
}

ClApi api_from_dispatch(cl_platform_id platform, decltype(&::clGetPlatformIDs) get_platforms) {
  ClApi api;
  const cl_icd_dispatch* table = *reinterpret_cast<cl_icd_dispatch* const*>(platform);
  if (!table) return api;
#define CLVET_CL(name, required) \
  api.name = reinterpret_cast<decltype(api.name)>(reinterpret_cast<void*>(table->name));
#include "probe/cl/cl_api.inc"
#undef CLVET_CL
  api.clGetPlatformIDs = get_platforms;
  return api;
}

namespace {

#define ROW(name) \
  std::pair { name, #name }
constexpr std::array kErrorNames{ROW(CL_SUCCESS),
                                 ROW(CL_DEVICE_NOT_FOUND),
                                 ROW(CL_DEVICE_NOT_AVAILABLE),
                                 ROW(CL_COMPILER_NOT_AVAILABLE),
                                 ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
                                 ROW(CL_OUT_OF_RESOURCES),
                                 ROW(CL_OUT_OF_HOST_MEMORY),
                                 ROW(CL_PROFILING_INFO_NOT_AVAILABLE),
                                 ROW(CL_MEM_COPY_OVERLAP),
                                 ROW(CL_IMAGE_FORMAT_MISMATCH),
                                 ROW(CL_IMAGE_FORMAT_NOT_SUPPORTED),
                                 ROW(CL_BUILD_PROGRAM_FAILURE),
                                 ROW(CL_MAP_FAILURE),
                                 ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET),
                                 ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
                                 ROW(CL_COMPILE_PROGRAM_FAILURE),
                                 ROW(CL_LINKER_NOT_AVAILABLE),
                                 ROW(CL_LINK_PROGRAM_FAILURE),
                                 ROW(CL_INVALID_VALUE),
                                 ROW(CL_INVALID_DEVICE_TYPE),
                                 ROW(CL_INVALID_PLATFORM),
                                 ROW(CL_INVALID_DEVICE),
                                 ROW(CL_INVALID_CONTEXT),
                                 ROW(CL_INVALID_QUEUE_PROPERTIES),
                                 ROW(CL_INVALID_COMMAND_QUEUE),
                                 ROW(CL_INVALID_HOST_PTR),
                                 ROW(CL_INVALID_MEM_OBJECT),
                                 ROW(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
                                 ROW(CL_INVALID_IMAGE_SIZE),
                                 ROW(CL_INVALID_SAMPLER),
                                 ROW(CL_INVALID_BINARY),
                                 ROW(CL_INVALID_BUILD_OPTIONS),
                                 ROW(CL_INVALID_PROGRAM),
                                 ROW(CL_INVALID_PROGRAM_EXECUTABLE),
                                 ROW(CL_INVALID_KERNEL_NAME),
                                 ROW(CL_INVALID_KERNEL_DEFINITION),
                                 ROW(CL_INVALID_KERNEL),
                                 ROW(CL_INVALID_ARG_INDEX),
                                 ROW(CL_INVALID_ARG_VALUE),
                                 ROW(CL_INVALID_ARG_SIZE),
                                 ROW(CL_INVALID_KERNEL_ARGS),
                                 ROW(CL_INVALID_WORK_DIMENSION),
                                 ROW(CL_INVALID_WORK_GROUP_SIZE),
                                 ROW(CL_INVALID_WORK_ITEM_SIZE),
                                 ROW(CL_INVALID_GLOBAL_OFFSET),
                                 ROW(CL_INVALID_EVENT_WAIT_LIST),
                                 ROW(CL_INVALID_EVENT),
                                 ROW(CL_INVALID_OPERATION),
                                 ROW(CL_INVALID_GL_OBJECT),
                                 ROW(CL_INVALID_BUFFER_SIZE),
                                 ROW(CL_INVALID_MIP_LEVEL),
                                 ROW(CL_INVALID_GLOBAL_WORK_SIZE),
                                 ROW(CL_INVALID_PROPERTY),
                                 ROW(CL_INVALID_IMAGE_DESCRIPTOR),
                                 ROW(CL_INVALID_COMPILER_OPTIONS),
                                 ROW(CL_INVALID_LINKER_OPTIONS)};
#undef ROW

}  // namespace

std::string cl_error_name(cl_int code) {
  for (const auto& [value, name] : kErrorNames) {
    if (value == code) return name;
  }
  return code == -1001 ? "CL_PLATFORM_NOT_FOUND_KHR" : fmt::format("OpenCL error {}", code);
}

}  // namespace clvet
