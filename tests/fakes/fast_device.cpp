// The built-in device's platform, device and context.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/fakes/device_info.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/fast_objects.h"
#include "tests/fakes/scenario.h"

namespace fake_cl {

cl_platform_id g_fast_platform = nullptr;
cl_device_id g_fast_device = nullptr;

namespace {

cl_device_id g_twin = nullptr;

// As clGetDeviceIDs lists them.
std::vector<cl_device_id> listed() {
  switch (Scenario::instance().device().broken_twin) {
    case 0:
      return {g_twin, g_fast_device};
    case 1:
      return {g_fast_device, g_twin};
    default:
      return {g_fast_device};
  }
}

const void* g_dispatch = nullptr;

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info param, size_t size, void* value,
                                 size_t* size_ret) {
  static const char kVersion[] = "OpenCL 3.0 v1.r32p1-01eac0.2a893c04aca45a2e1aa1a24b9a2d8a3d";
  switch (param) {
    case CL_PLATFORM_NAME:
      return answer(text("ARM Platform"), size, value, size_ret);
    case CL_PLATFORM_VENDOR:
      return answer(text("ARM"), size, value, size_ret);
    case CL_PLATFORM_VERSION:
      return answer(text(kVersion), size, value, size_ret);
    case CL_PLATFORM_PROFILE:
      return answer(text("FULL_PROFILE"), size, value, size_ret);
    case CL_PLATFORM_EXTENSIONS:
      return answer(text("cl_khr_icd"), size, value, size_ret);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      return answer(text("ARM"), size, value, size_ret);
    case CL_PLATFORM_NUMERIC_VERSION:
      return answer(raw<cl_version>(CL_MAKE_VERSION(3, 0, 0)), size, value, size_ret);
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
      return answer(with_versions("cl_khr_icd"), size, value, size_ret);
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
      return answer(raw<cl_ulong>(1), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room,
                              cl_device_id* devices, cl_uint* count) {
  if (platform && platform != g_fast_platform) return CL_INVALID_PLATFORM;
  if ((devices && room == 0) || (!devices && !count)) return CL_INVALID_VALUE;
  const bool wanted = type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT);
  const std::vector<cl_device_id> all = wanted ? listed() : std::vector<cl_device_id>();
  if (count) *count = static_cast<cl_uint>(all.size());
  if (devices) std::copy_n(all.begin(), std::min<size_t>(room, all.size()), devices);
  return wanted ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info param, size_t size, void* value,
                               size_t* size_ret) {
  if (device != g_fast_device && device != g_twin) return CL_INVALID_DEVICE;
  switch (param) {
    case CL_DEVICE_PLATFORM:
      return answer(raw(g_fast_platform), size, value, size_ret);
    case CL_DEVICE_PARENT_DEVICE:
      return answer(raw<cl_device_id>(nullptr), size, value, size_ret);
    case CL_DEVICE_REFERENCE_COUNT:
      return answer(raw<cl_uint>(1), size, value, size_ret);
    default:
      break;
  }
  for (const InfoRow& row : device_rows()) {
    if (row.param != param) continue;
    const bool absent = row.kind != InfoRow::Kind::kString && row.kind != InfoRow::Kind::kBytes &&
                        row.numbers.empty();
    return absent ? CL_INVALID_VALUE : answer(bytes_of(row), size, value, size_ret);
  }
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL retain_device(cl_device_id d) { return d ? CL_SUCCESS : CL_INVALID_DEVICE; }

cl_context new_context(const cl_context_properties* properties, cl_int* code) {
  auto* context = new _cl_context;
  for (; properties && *properties; properties += 2) {
    context->properties.insert(context->properties.end(), properties, properties + 2);
  }
  if (!context->properties.empty()) context->properties.push_back(0);
  return created(context, CL_SUCCESS, code);
}

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* devices,
                                      void(CL_CALLBACK*)(const char*, const void*, size_t, void*),
                                      void*, cl_int* code) {
  if (count == 0 || !devices) return created<_cl_context>(nullptr, CL_INVALID_VALUE, code);
  if (devices[0] == g_twin) return created<_cl_context>(nullptr, CL_DEVICE_NOT_AVAILABLE, code);
  if (devices[0] != g_fast_device) return created<_cl_context>(nullptr, CL_INVALID_DEVICE, code);
  return new_context(properties, code);
}

cl_context CL_API_CALL create_context_from_type(
    const cl_context_properties* properties, cl_device_type type,
    void(CL_CALLBACK*)(const char*, const void*, size_t, void*), void*, cl_int* code) {
  if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT))) {
    return created<_cl_context>(nullptr, CL_DEVICE_NOT_FOUND, code);
  }
  return new_context(properties, code);
}

cl_int CL_API_CALL retain_context(cl_context c) { return retain(c, CL_INVALID_CONTEXT); }
cl_int CL_API_CALL release_context(cl_context c) { return release(c, CL_INVALID_CONTEXT); }

cl_int CL_API_CALL context_info(cl_context c, cl_context_info param, size_t size, void* value,
                                size_t* size_ret) {
  if (!c) return CL_INVALID_CONTEXT;
  switch (param) {
    case CL_CONTEXT_REFERENCE_COUNT:
      return answer(raw(count_of(*c)), size, value, size_ret);
    case CL_CONTEXT_DEVICES:
      return answer(raw(g_fast_device), size, value, size_ret);
    case CL_CONTEXT_NUM_DEVICES:
      return answer(raw<cl_uint>(1), size, value, size_ret);
    case CL_CONTEXT_PROPERTIES: {
      const auto* begin = reinterpret_cast<const char*>(c->properties.data());
      const size_t bytes = c->properties.size() * sizeof(cl_context_properties);
      return answer(std::string(begin, begin + bytes), size, value, size_ret);
    }
    default:
      return CL_INVALID_VALUE;
  }
}

void* CL_API_CALL extension_for_platform(cl_platform_id, const char* name) {
  return name && std::strcmp(name, "clImportMemoryARM") == 0 ? fast_import_memory() : nullptr;
}
cl_int CL_API_CALL unload_compiler() { return CL_SUCCESS; }
cl_int CL_API_CALL unload_platform_compiler(cl_platform_id) { return CL_SUCCESS; }

}  // namespace

const void* fast_dispatch() { return g_dispatch; }

void install_fast_context(Table& table) {
  set<Fn::clGetPlatformInfo>(table, platform_info);
  set<Fn::clGetDeviceIDs>(table, device_ids);
  set<Fn::clGetDeviceInfo>(table, device_info);
  set<Fn::clRetainDevice>(table, retain_device);
  set<Fn::clReleaseDevice>(table, retain_device);
  set<Fn::clCreateContext>(table, create_context);
  set<Fn::clCreateContextFromType>(table, create_context_from_type);
  set<Fn::clRetainContext>(table, retain_context);
  set<Fn::clReleaseContext>(table, release_context);
  set<Fn::clGetContextInfo>(table, context_info);
  set<Fn::clGetExtensionFunctionAddressForPlatform>(table, extension_for_platform);
  set<Fn::clUnloadCompiler>(table, unload_compiler);
  set<Fn::clUnloadPlatformCompiler>(table, unload_platform_compiler);
}

cl_platform_id install_fast_device(Table& table, const void* dispatch) {
  g_dispatch = dispatch;
  g_fast_platform = new _cl_platform_id;
  g_fast_device = new _cl_device_id;
  g_twin = new _cl_device_id;
  install_fast_context(table);
  install_fast_memory(table);
  install_fast_transfers(table);
  install_fast_programs(table);
  install_fast_queues(table);
  return g_fast_platform;
}

}  // namespace fake_cl
