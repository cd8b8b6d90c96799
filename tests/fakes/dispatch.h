// The dispatch table of the driver behind the fake, and the ways to reach and to replace its
// entries.
//
// Every OpenCL object begins with a pointer to its driver's table. The fake keeps a copy of the
// original entries and writes its own hooks into the driver's table in place, so that objects are
// passed through unchanged and both an ICD loader and the exported names meet the same hooks.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <array>
#include <cstddef>

namespace fake_cl {

enum class Fn {
#define FAKE_CL_API(ret, name, params, args) name,
#include "tests/fakes/api.inc"
#undef FAKE_CL_API
  kCount
};

template <Fn F>
struct Api;
#define FAKE_CL_API(ret, name_, params, args)                                        \
  template <>                                                                        \
  struct Api<Fn::name_> {                                                            \
    using Type = decltype(&::name_);                                                 \
    static constexpr const char* name = #name_;                                      \
    static constexpr size_t slot = offsetof(cl_icd_dispatch, name_) / sizeof(void*); \
  };
#include "tests/fakes/api.inc"
#undef FAKE_CL_API

inline constexpr size_t kSlots = sizeof(cl_icd_dispatch) / sizeof(void*);
using Table = std::array<void*, kSlots>;

// The driver's own entries; null where it has none.
Table& real_table();
// The fake's hooks, filled by hooks.cpp.
const Table& hook_table();

template <Fn F>
typename Api<F>::Type real() {
  return reinterpret_cast<typename Api<F>::Type>(real_table()[Api<F>::slot]);
}

// Writes the hooks into the table that `object` points to, unless that has been done.
void patch_table_of(void* object);

// Loads FAKE_CL_TARGET (or the built-in device for "none") and patches the tables of its platforms.
cl_int target_platforms(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms);
// The target's own extension function, null where there is none.
void* target_extension_function(const char* name);
bool target_is_fast_device();

// fast_device.cpp: fills `table` with the built-in device and returns its platform.
cl_platform_id install_fast_device(Table& table, const void* dispatch);

}  // namespace fake_cl
