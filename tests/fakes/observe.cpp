#include "tests/fakes/observe.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tests/fakes/device_info.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/tracker.h"

namespace fake_cl {

cl_int invoke(Tag<Fn::clGetProgramBuildInfo>, cl_program p, cl_device_id d,
              cl_program_build_info param, size_t size, void* value, size_t* size_ret) {
  const auto info = Tracker::instance().program(p);
  const auto driver = real<Fn::clGetProgramBuildInfo>();
  if (!info || !info->log) return driver(p, d, param, size, value, size_ret);
  if (param == CL_PROGRAM_BUILD_STATUS && info->status == CL_BUILD_ERROR) {
    const std::string bytes(reinterpret_cast<const char*>(&info->status), sizeof info->status);
    return answer(bytes, size, value, size_ret);
  }
  if (param != CL_PROGRAM_BUILD_LOG) return driver(p, d, param, size, value, size_ret);
  const std::string text = *info->log + '\0';
  if (!info->claimed_log) return answer(text, size, value, size_ret);
  const size_t claimed = *info->claimed_log;
  if (size_ret) *size_ret = claimed;
  if (!value) return CL_SUCCESS;
  if (size < claimed) return CL_INVALID_VALUE;
  std::memset(value, 'x', claimed);
  std::memcpy(value, info->log->data(), std::min(claimed, info->log->size()));
  static_cast<char*>(value)[claimed - 1] = '\0';
  return CL_SUCCESS;
}

void observe(Tag<Fn::clCreateProgramWithSource>, cl_program p, cl_context, cl_uint count,
             const char** text, const size_t* lengths, cl_int*) {
  if (!p) return;
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    source += lengths && lengths[i] ? std::string(text[i], lengths[i]) : std::string(text[i]);
  }
  Tracker::instance().add_program(p, std::move(source));
}

void observe(Tag<Fn::clLinkProgram>, cl_program result, cl_context, cl_uint, const cl_device_id*,
             const char* options, cl_uint count, const cl_program* inputs,
             void(CL_CALLBACK*)(cl_program, void*), void*, cl_int*) {
  if (!result) return;
  std::string source, all = options ? options : "";
  for (cl_uint i = 0; i < count; ++i) {
    const auto input = Tracker::instance().program(inputs[i]);
    if (input) source += input->source + "\n", all += " " + input->options;
  }
  Tracker::instance().add_program(result, std::move(source));
  Tracker::instance().set_options(result, all.c_str());
}

void observe(Tag<Fn::clCreateKernelsInProgram>, cl_int result, cl_program p, cl_uint room,
             cl_kernel* kernels, cl_uint* count) {
  if (result != CL_SUCCESS || !kernels) return;
  const cl_uint made = count ? std::min(*count, room) : room;
  for (cl_uint i = 0; i < made; ++i) {
    char name[256] = {};
    real<Fn::clGetKernelInfo>()(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name,
                                nullptr);
    Tracker::instance().add_kernel(kernels[i], p, name);
  }
}

void note_image(cl_mem mem, const cl_image_format* format, const cl_image_desc* desc) {
  if (!mem || !format || !desc) return;
  MemInfo info;
  info.image = true;
  info.format = *format;
  info.region[0] = desc->image_width;
  switch (desc->image_type) {
    case CL_MEM_OBJECT_IMAGE2D:
      info.region[1] = desc->image_height;
      break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      info.region[1] = desc->image_array_size;
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      info.region[1] = desc->image_height;
      info.region[2] = desc->image_depth;
      break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      info.region[1] = desc->image_height;
      info.region[2] = desc->image_array_size;
      break;
    default:
      break;
  }
  Tracker::instance().add_mem(mem, info);
}

}  // namespace fake_cl
