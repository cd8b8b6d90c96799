// Buffers and images of the built-in device.
#include <cstdlib>
#include <cstring>

#include "tests/fakes/device_info.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/fast_objects.h"

namespace fake_cl {

size_t pixel_size(const cl_image_format& format) {
  size_t channels = 0;
  switch (format.image_channel_order) {
    case CL_R:
    case CL_DEPTH:
      channels = 1;
      break;
    case CL_RG:
      channels = 2;
      break;
    case CL_RGBA:
    case CL_BGRA:
      channels = 4;
      break;
    default:
      return 0;
  }
  switch (format.image_channel_data_type) {
    case CL_FLOAT:
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
      return channels * 4;
    case CL_HALF_FLOAT:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
      return channels * 2;
    case CL_UNORM_INT8:
    case CL_SNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      return channels;
    default:
      return 0;
  }
}

namespace {

constexpr size_t kMaxAllocation = size_t{1} << 30;

// Fills data, storage and host pointer; flags as clCreateBuffer's.
cl_int allocate(cl_mem mem, void* host) {
  const bool needs_host = mem->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  if (needs_host != (host != nullptr)) return CL_INVALID_HOST_PTR;
  if (mem->flags & CL_MEM_USE_HOST_PTR) {
    mem->data = static_cast<unsigned char*>(host);
    mem->host_pointer = host;
    return CL_SUCCESS;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, 4096, mem->size) != 0) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  mem->storage.reset(memory, std::free);
  mem->data = static_cast<unsigned char*>(memory);
  if (mem->flags & CL_MEM_COPY_HOST_PTR && mem->type == CL_MEM_OBJECT_BUFFER) {
    std::memcpy(memory, host, mem->size);
  } else {
    std::memset(memory, 0, mem->size);
  }
  return CL_SUCCESS;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                 cl_int* code) {
  if (!context) return created<_cl_mem>(nullptr, CL_INVALID_CONTEXT, code);
  if (size == 0 || size > kMaxAllocation)
    return created<_cl_mem>(nullptr, CL_INVALID_BUFFER_SIZE, code);
  auto* mem = new _cl_mem;
  mem->context = context;
  mem->flags = flags;
  mem->size = size;
  return created(mem, allocate(mem, host), code);
}

// cl_arm_import_memory of the host's memory: a buffer over it.
cl_mem CL_API_CALL import_memory(cl_context context, cl_mem_flags flags,
                                 const cl_import_properties_arm*, void* memory, size_t size,
                                 cl_int* code) {
  return create_buffer(context, flags | CL_MEM_USE_HOST_PTR, size, memory, code);
}

cl_mem CL_API_CALL create_buffer_with(cl_context context, const cl_mem_properties*,
                                      cl_mem_flags flags, size_t size, void* host, cl_int* code) {
  return create_buffer(context, flags, size, host, code);
}

cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void* info, cl_int* code) {
  const auto* region = static_cast<const cl_buffer_region*>(info);
  if (!parent || parent->parent) return created<_cl_mem>(nullptr, CL_INVALID_MEM_OBJECT, code);
  if (type != CL_BUFFER_CREATE_TYPE_REGION || !region || region->size == 0 ||
      region->origin + region->size > parent->size) {
    return created<_cl_mem>(nullptr, CL_INVALID_VALUE, code);
  }
  if (region->origin % 128 != 0)
    return created<_cl_mem>(nullptr, CL_MISALIGNED_SUB_BUFFER_OFFSET, code);
  auto* mem = new _cl_mem;
  mem->context = parent->context;
  mem->parent = parent;
  mem->origin = region->origin;
  mem->flags = flags ? flags : parent->flags;
  mem->size = region->size;
  mem->storage = parent->storage;
  mem->data = parent->data + region->origin;
  return created(mem, CL_SUCCESS, code);
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
                                const cl_image_format* format, const cl_image_desc* desc,
                                void* host, cl_int* code) {
  if (!context) return created<_cl_mem>(nullptr, CL_INVALID_CONTEXT, code);
  if (!format || pixel_size(*format) == 0) {
    return created<_cl_mem>(nullptr, CL_IMAGE_FORMAT_NOT_SUPPORTED, code);
  }
  if (!desc || desc->image_width == 0 || desc->image_width > 65536 || desc->image_height > 65536) {
    return created<_cl_mem>(nullptr, CL_INVALID_IMAGE_SIZE, code);
  }
  auto* mem = new _cl_mem;
  mem->context = context;
  mem->flags = flags;
  mem->type = desc->image_type;
  mem->format = *format;
  mem->desc = *desc;
  mem->element = pixel_size(*format);
  const bool planar = desc->image_type != CL_MEM_OBJECT_IMAGE1D &&
                      desc->image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER &&
                      desc->image_type != CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const size_t height = planar ? desc->image_height : 1;
  size_t slices = 1;
  if (desc->image_type == CL_MEM_OBJECT_IMAGE3D) slices = desc->image_depth;
  if (desc->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
      desc->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY) {
    slices = desc->image_array_size;
  }
  mem->row_pitch = desc->image_width * mem->element;
  if ((desc->mem_object || host) && desc->image_row_pitch) mem->row_pitch = desc->image_row_pitch;
  mem->slice_pitch = mem->row_pitch * height;
  mem->size = mem->slice_pitch * slices;
  if (mem->size == 0 || mem->size > kMaxAllocation) {
    return created<_cl_mem>(nullptr, CL_INVALID_IMAGE_SIZE, code);
  }
  if (desc->mem_object) {
    mem->storage = desc->mem_object->storage;
    mem->data = desc->mem_object->data;
    const bool fits = mem->size <= desc->mem_object->size;
    return created(mem, fits ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE, code);
  }
  const cl_int result = allocate(mem, host);
  if (result == CL_SUCCESS && flags & CL_MEM_COPY_HOST_PTR) std::memcpy(mem->data, host, mem->size);
  return created(mem, result, code);
}

cl_mem CL_API_CALL create_image_with(cl_context context, const cl_mem_properties*,
                                     cl_mem_flags flags, const cl_image_format* format,
                                     const cl_image_desc* desc, void* host, cl_int* code) {
  return create_image(context, flags, format, desc, host, code);
}

cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, size_t width, size_t height,
                                   size_t pitch, void* host, cl_int* code) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_row_pitch = pitch;
  return create_image(context, flags, format, &desc, host, code);
}

cl_int CL_API_CALL retain_mem(cl_mem m) { return retain(m, CL_INVALID_MEM_OBJECT); }
cl_int CL_API_CALL release_mem(cl_mem m) {
  const cl_int result = release(m, CL_INVALID_MEM_OBJECT);
  if (result == CL_SUCCESS && m->references == 0) m->storage.reset();
  return result;
}

cl_int CL_API_CALL image_formats(cl_context, cl_mem_flags, cl_mem_object_type, cl_uint room,
                                 cl_image_format* formats, cl_uint* count) {
  static const cl_channel_type kTypes[] = {
      CL_FLOAT,          CL_HALF_FLOAT,  CL_SIGNED_INT32,  CL_UNSIGNED_INT32, CL_SIGNED_INT16,
      CL_UNSIGNED_INT16, CL_SIGNED_INT8, CL_UNSIGNED_INT8, CL_UNORM_INT8,     CL_SNORM_INT8};
  cl_uint made = 0;
  for (cl_channel_order order : {CL_R, CL_RG, CL_RGBA}) {
    for (cl_channel_type type : kTypes) {
      if (formats && made < room) formats[made] = {order, type};
      ++made;
    }
  }
  if (count) *count = made;
  return CL_SUCCESS;
}

cl_int CL_API_CALL mem_info(cl_mem m, cl_mem_info param, size_t size, void* value,
                            size_t* size_ret) {
  if (!m) return CL_INVALID_MEM_OBJECT;
  switch (param) {
    case CL_MEM_TYPE:
      return answer(raw(m->type), size, value, size_ret);
    case CL_MEM_FLAGS:
      return answer(raw(m->flags), size, value, size_ret);
    case CL_MEM_SIZE:
      return answer(raw(m->size), size, value, size_ret);
    case CL_MEM_HOST_PTR:
      return answer(raw(m->host_pointer), size, value, size_ret);
    case CL_MEM_MAP_COUNT:
      return answer(raw(m->maps), size, value, size_ret);
    case CL_MEM_REFERENCE_COUNT:
      return answer(raw(count_of(*m)), size, value, size_ret);
    case CL_MEM_CONTEXT:
      return answer(raw(m->context), size, value, size_ret);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
      return answer(raw(m->parent), size, value, size_ret);
    case CL_MEM_OFFSET:
      return answer(raw(m->origin), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL image_info(cl_mem m, cl_image_info param, size_t size, void* value,
                              size_t* size_ret) {
  if (!m || m->type == CL_MEM_OBJECT_BUFFER) return CL_INVALID_MEM_OBJECT;
  switch (param) {
    case CL_IMAGE_FORMAT:
      return answer(raw(m->format), size, value, size_ret);
    case CL_IMAGE_ELEMENT_SIZE:
      return answer(raw(m->element), size, value, size_ret);
    case CL_IMAGE_ROW_PITCH:
      return answer(raw(m->row_pitch), size, value, size_ret);
    case CL_IMAGE_SLICE_PITCH:
      return answer(raw(m->slice_pitch), size, value, size_ret);
    case CL_IMAGE_WIDTH:
      return answer(raw(m->desc.image_width), size, value, size_ret);
    case CL_IMAGE_HEIGHT:
      return answer(raw(m->desc.image_height), size, value, size_ret);
    case CL_IMAGE_DEPTH:
      return answer(raw(m->desc.image_depth), size, value, size_ret);
    case CL_IMAGE_ARRAY_SIZE:
      return answer(raw(m->desc.image_array_size), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_sampler CL_API_CALL create_sampler(cl_context context, cl_bool, cl_addressing_mode,
                                      cl_filter_mode, cl_int* code) {
  auto* sampler = new _cl_sampler;
  sampler->context = context;
  return created(sampler, CL_SUCCESS, code);
}
cl_sampler CL_API_CALL create_sampler_with(cl_context context, const cl_sampler_properties*,
                                           cl_int* code) {
  return create_sampler(context, CL_FALSE, 0, 0, code);
}
cl_int CL_API_CALL retain_sampler(cl_sampler s) { return retain(s, CL_INVALID_SAMPLER); }
cl_int CL_API_CALL release_sampler(cl_sampler s) { return release(s, CL_INVALID_SAMPLER); }

}  // namespace

void* fast_import_memory() { return reinterpret_cast<void*>(&import_memory); }

void install_fast_memory(Table& table) {
  set<Fn::clCreateBuffer>(table, create_buffer);
  set<Fn::clCreateBufferWithProperties>(table, create_buffer_with);
  set<Fn::clCreateSubBuffer>(table, create_sub_buffer);
  set<Fn::clCreateImage>(table, create_image);
  set<Fn::clCreateImageWithProperties>(table, create_image_with);
  set<Fn::clCreateImage2D>(table, create_image_2d);
  set<Fn::clRetainMemObject>(table, retain_mem);
  set<Fn::clReleaseMemObject>(table, release_mem);
  set<Fn::clGetSupportedImageFormats>(table, image_formats);
  set<Fn::clGetMemObjectInfo>(table, mem_info);
  set<Fn::clGetImageInfo>(table, image_info);
  set<Fn::clCreateSampler>(table, create_sampler);
  set<Fn::clCreateSamplerWithProperties>(table, create_sampler_with);
  set<Fn::clRetainSampler>(table, retain_sampler);
  set<Fn::clReleaseSampler>(table, release_sampler);
}

}  // namespace fake_cl
