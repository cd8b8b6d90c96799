// Objects of the built-in device (FAKE_CL_TARGET=none). Commands run at once, inside the enqueue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/dispatch.h"

namespace fake_cl {

const void* fast_dispatch();

struct FastObject {
  const void* dispatch = fast_dispatch();
  std::atomic<int> references{1};
};

inline cl_ulong nanoseconds() {
  return static_cast<cl_ulong>(std::chrono::steady_clock::now().time_since_epoch().count());
}

template <class T>
cl_int retain(T* object, cl_int error) {
  if (!object) return error;
  ++object->references;
  return CL_SUCCESS;
}
// Objects are never freed: a use after the last release is then a bug that tests can still see.
template <class T>
cl_int release(T* object, cl_int error) {
  if (!object || object->references <= 0) return error;
  --object->references;
  return CL_SUCCESS;
}

template <class T>
T* created(T* object, cl_int code, cl_int* code_ret) {
  if (code_ret) *code_ret = code;
  return code == CL_SUCCESS ? object : nullptr;
}

template <class T>
std::string raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
inline std::string text(const std::string& value) { return value + '\0'; }
inline cl_uint count_of(const FastObject& object) {
  return static_cast<cl_uint>(object.references.load());
}

template <Fn F>
void set(Table& table, typename Api<F>::Type function) {
  table[Api<F>::slot] = reinterpret_cast<void*>(function);
}

// Sets `event`, if wanted, to a completed command of that type.
cl_int complete(cl_command_queue queue, cl_command_type type, cl_event* event);

void install_fast_memory(Table& table);
// clImportMemoryARM.
void* fast_import_memory();
void install_fast_transfers(Table& table);
void install_fast_programs(Table& table);
void install_fast_queues(Table& table);
void install_fast_context(Table& table);

}  // namespace fake_cl

struct _cl_platform_id : fake_cl::FastObject {};
struct _cl_device_id : fake_cl::FastObject {};
struct _cl_context : fake_cl::FastObject {
  std::vector<cl_context_properties> properties;
};
struct _cl_command_queue : fake_cl::FastObject {
  cl_context context = nullptr;
  cl_command_queue_properties properties = 0;
};
struct _cl_event : fake_cl::FastObject {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_command_type type = 0;
  std::atomic<cl_int> status{CL_COMPLETE};
  cl_ulong times[4] = {};
};
struct _cl_sampler : fake_cl::FastObject {
  cl_context context = nullptr;
};
struct _cl_mem : fake_cl::FastObject {
  cl_context context = nullptr;
  cl_mem parent = nullptr;
  size_t origin = 0;
  cl_mem_flags flags = 0;
  size_t size = 0;
  unsigned char* data = nullptr;
  std::shared_ptr<void> storage;
  void* host_pointer = nullptr;
  cl_uint maps = 0;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_image_format format{};
  cl_image_desc desc{};
  size_t element = 1, row_pitch = 0, slice_pitch = 0;
};
struct _cl_program : fake_cl::FastObject {
  cl_context context = nullptr;
  std::string source, options;
  cl_build_status status = CL_BUILD_NONE;
};
struct _cl_kernel : fake_cl::FastObject {
  cl_program program = nullptr;
  std::string name;
  std::map<cl_uint, std::string> args;
};

namespace fake_cl {
extern cl_platform_id g_fast_platform;
extern cl_device_id g_fast_device;
// Bytes of one pixel; 0 for a format that the device does not know.
size_t pixel_size(const cl_image_format& format);
}  // namespace fake_cl
