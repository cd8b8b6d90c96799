// What single entry points tell about their call (`describe`), how they are answered (`invoke`) and
// what is remembered of them (`observe`). Overloads by tag; the templates serve all other calls.
#pragma once

#include <cstddef>
#include <string>

#include "tests/fakes/device_info.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/tracker.h"

namespace fake_cl {

template <Fn F>
struct Tag {};

// ---- describe: before the call ----------------------------------------------------------------

template <Fn F, class... A>
Subject describe(Tag<F>, A...) {
  return Tracker::instance().about_kernel(Tracker::instance().last_enqueued());
}
template <class... Rest>
Subject describe(Tag<Fn::clBuildProgram>, cl_program p, cl_uint, const cl_device_id*,
                 const char* options, Rest...) {
  Tracker::instance().clear_log(p);
  Tracker::instance().set_options(p, options);
  return Tracker::instance().about_program(p);
}
template <class... Rest>
Subject describe(Tag<Fn::clCompileProgram>, cl_program p, cl_uint n, const cl_device_id* d,
                 const char* options, Rest...) {
  return describe(Tag<Fn::clBuildProgram>{}, p, n, d, options);
}
inline Subject describe(Tag<Fn::clCreateKernel>, cl_program p, const char* name, cl_int*) {
  return Tracker::instance().about_kernel(p, name ? name : "");
}
inline Subject describe(Tag<Fn::clCreateProgramWithSource>, cl_context, cl_uint, const char**,
                        const size_t*, cl_int*) {
  return {};
}
inline Subject describe(Tag<Fn::clGetProgramBuildInfo>, cl_program p, cl_device_id,
                        cl_program_build_info, size_t, void*, size_t*) {
  return Tracker::instance().about_program(p);
}
inline Subject describe(Tag<Fn::clGetProgramInfo>, cl_program p, cl_program_info, size_t, void*,
                        size_t*) {
  return Tracker::instance().about_program(p);
}
inline Subject describe(Tag<Fn::clReleaseProgram>, cl_program p) {
  return Tracker::instance().about_program(p);
}
inline Subject describe(Tag<Fn::clSetKernelArg>, cl_kernel k, cl_uint, size_t, const void*) {
  return Tracker::instance().about_kernel(k);
}
inline Subject describe(Tag<Fn::clGetKernelWorkGroupInfo>, cl_kernel k, cl_device_id,
                        cl_kernel_work_group_info, size_t, void*, size_t*) {
  return Tracker::instance().about_kernel(k);
}
inline Subject describe(Tag<Fn::clReleaseKernel>, cl_kernel k) {
  return Tracker::instance().about_kernel(k);
}
template <class... Rest>
Subject describe(Tag<Fn::clEnqueueNDRangeKernel>, cl_command_queue, cl_kernel k, Rest...) {
  Tracker::instance().note_enqueue(k);
  return Tracker::instance().about_kernel(k);
}
template <class... Rest>
Subject describe(Tag<Fn::clEnqueueTask>, cl_command_queue, cl_kernel k, Rest...) {
  Tracker::instance().note_enqueue(k);
  return Tracker::instance().about_kernel(k);
}

// ---- invoke: the call itself ------------------------------------------------------------------

template <Fn F, class... A>
auto invoke(Tag<F>, A... args) {
  return real<F>()(args...);
}
inline cl_int invoke(Tag<Fn::clGetDeviceInfo>, cl_device_id d, cl_device_info param, size_t size,
                     void* value, size_t* size_ret) {
  return changed_device_info(d, param, size, value, size_ret);
}
inline cl_int invoke(Tag<Fn::clGetPlatformInfo>, cl_platform_id p, cl_platform_info param,
                     size_t size, void* value, size_t* size_ret) {
  return changed_platform_info(p, param, size, value, size_ret);
}
cl_int invoke(Tag<Fn::clGetProgramBuildInfo>, cl_program p, cl_device_id d,
              cl_program_build_info param, size_t size, void* value, size_t* size_ret);

// Of a pointer that a stale map gave, the driver's own (stale.h).
cl_int invoke(Tag<Fn::clEnqueueUnmapMemObject>, cl_command_queue queue, cl_mem mem, void* mapped,
              cl_uint count, const cl_event* waits, cl_event* event);

// ---- observe: after the call ------------------------------------------------------------------

template <Fn F, class R, class... A>
void observe(Tag<F>, R, A...) {}

inline void observe(Tag<Fn::clGetDeviceIDs>, cl_int result, cl_platform_id, cl_device_type,
                    cl_uint room, cl_device_id* devices, cl_uint*) {
  if (result == CL_SUCCESS && devices && room > 0) patch_table_of(devices[0]);
}
void observe(Tag<Fn::clCreateProgramWithSource>, cl_program p, cl_context, cl_uint count,
             const char** text, const size_t* lengths, cl_int*);
template <class... Rest>
void observe(Tag<Fn::clCreateProgramWithBinary>, cl_program p, Rest...) {
  Tracker::instance().add_program(p, "", true);
}
template <class... Rest>
void observe(Tag<Fn::clCreateProgramWithIL>, cl_program p, Rest...) {
  Tracker::instance().add_program(p, "");
}
void observe(Tag<Fn::clLinkProgram>, cl_program result, cl_context, cl_uint, const cl_device_id*,
             const char* options, cl_uint count, const cl_program* inputs,
             void(CL_CALLBACK*)(cl_program, void*), void*, cl_int*);
inline void observe(Tag<Fn::clCreateKernel>, cl_kernel k, cl_program p, const char* name, cl_int*) {
  Tracker::instance().add_kernel(k, p, name ? name : "");
}
void observe(Tag<Fn::clCreateKernelsInProgram>, cl_int result, cl_program p, cl_uint,
             cl_kernel* kernels, cl_uint*);
inline void observe(Tag<Fn::clSetKernelArg>, cl_int result, cl_kernel k, cl_uint index, size_t size,
                    const void* value) {
  if (result == CL_SUCCESS) Tracker::instance().set_arg(k, index, size, value);
}
inline void observe(Tag<Fn::clCreateBuffer>, cl_mem mem, cl_context, cl_mem_flags, size_t size,
                    void*, cl_int*) {
  Tracker::instance().add_mem(mem, {.size = size});
}
inline void observe(Tag<Fn::clCreateBufferWithProperties>, cl_mem mem, cl_context,
                    const cl_mem_properties*, cl_mem_flags, size_t size, void*, cl_int*) {
  Tracker::instance().add_mem(mem, {.size = size});
}
inline void observe(Tag<Fn::clCreateSubBuffer>, cl_mem mem, cl_mem parent, cl_mem_flags,
                    cl_buffer_create_type, const void* info, cl_int*) {
  if (!mem || !info) return;
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  Tracker::instance().add_mem(mem,
                              {.size = region.size, .parent = parent, .origin = region.origin});
}
void note_image(cl_mem mem, const cl_image_format* format, const cl_image_desc* desc);
inline void observe(Tag<Fn::clCreateImage>, cl_mem mem, cl_context, cl_mem_flags,
                    const cl_image_format* format, const cl_image_desc* desc, void*, cl_int*) {
  note_image(mem, format, desc);
}
inline void observe(Tag<Fn::clCreateImageWithProperties>, cl_mem mem, cl_context,
                    const cl_mem_properties*, cl_mem_flags, const cl_image_format* format,
                    const cl_image_desc* desc, void*, cl_int*) {
  note_image(mem, format, desc);
}
inline void observe(Tag<Fn::clCreateImage2D>, cl_mem mem, cl_context, cl_mem_flags,
                    const cl_image_format* format, size_t width, size_t height, size_t, void*,
                    cl_int*) {
  if (mem && format) {
    Tracker::instance().add_mem(mem,
                                {.image = true, .format = *format, .region = {width, height, 1}});
  }
}

}  // namespace fake_cl
