// Programs and kernels of the built-in device: any text builds; kernels must be in the text.
#include <cstring>
#include <string>

#include "tests/fakes/constructs.h"
#include "tests/fakes/device_info.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/fast_objects.h"

namespace fake_cl {
namespace {

const char kBinaryMagic[] = "FAKECLBIN1\n";

// The kernels of a program, as the analysis sees them.
const ProgramText& text_of(cl_program p) {
  std::string extensions;
  for (const InfoRow& row : device_rows()) {
    if (row.param == CL_DEVICE_EXTENSIONS) extensions = row.text;
  }
  return analyse(p->source, p->options, extensions);
}

cl_program CL_API_CALL with_source(cl_context context, cl_uint count, const char** strings,
                                   const size_t* lengths, cl_int* code) {
  if (!context) return created<_cl_program>(nullptr, CL_INVALID_CONTEXT, code);
  if (count == 0 || !strings) return created<_cl_program>(nullptr, CL_INVALID_VALUE, code);
  auto* program = new _cl_program;
  program->context = context;
  for (cl_uint i = 0; i < count; ++i) {
    const size_t length = lengths && lengths[i] ? lengths[i] : std::strlen(strings[i]);
    program->source.append(strings[i], length);
  }
  return created(program, CL_SUCCESS, code);
}

cl_program CL_API_CALL with_binary(cl_context context, cl_uint, const cl_device_id*,
                                   const size_t* lengths, const unsigned char** binaries,
                                   cl_int* status, cl_int* code) {
  const std::string binary(reinterpret_cast<const char*>(binaries[0]), lengths[0]);
  const size_t start = std::strlen(kBinaryMagic);
  const size_t split = binary.find('\n', start);
  const bool fine = binary.starts_with(kBinaryMagic) && split != binary.npos;
  if (status) *status = fine ? CL_SUCCESS : CL_INVALID_BINARY;
  if (!fine) return created<_cl_program>(nullptr, CL_INVALID_BINARY, code);
  auto* program = new _cl_program;
  program->context = context;
  program->options = binary.substr(start, split - start);
  program->source = binary.substr(split + 1);
  return created(program, CL_SUCCESS, code);
}

cl_int CL_API_CALL build(cl_program p, cl_uint, const cl_device_id*, const char* options,
                         void(CL_CALLBACK* notify)(cl_program, void*), void* user) {
  if (!p) return CL_INVALID_PROGRAM;
  if (options && *options) p->options = options;
  p->status = CL_BUILD_SUCCESS;
  if (notify) notify(p, user);
  return CL_SUCCESS;
}

cl_int CL_API_CALL compile(cl_program p, cl_uint n, const cl_device_id* devices,
                           const char* options, cl_uint, const cl_program*, const char**,
                           void(CL_CALLBACK* notify)(cl_program, void*), void* user) {
  return build(p, n, devices, options, notify, user);
}

cl_program CL_API_CALL link(cl_context context, cl_uint, const cl_device_id*, const char*,
                            cl_uint count, const cl_program* inputs,
                            void(CL_CALLBACK* notify)(cl_program, void*), void* user,
                            cl_int* code) {
  auto* program = new _cl_program;
  program->context = context;
  program->status = CL_BUILD_SUCCESS;
  for (cl_uint i = 0; i < count; ++i) {
    program->source += inputs[i]->source + "\n";
    program->options += inputs[i]->options + " ";
  }
  if (notify) notify(program, user);
  return created(program, CL_SUCCESS, code);
}

cl_int CL_API_CALL retain_program(cl_program p) { return retain(p, CL_INVALID_PROGRAM); }
cl_int CL_API_CALL release_program(cl_program p) { return release(p, CL_INVALID_PROGRAM); }

std::string kernel_names(cl_program p) {
  std::string names;
  for (const auto& [name, kernel] : text_of(p).kernels) names += (names.empty() ? "" : ";") + name;
  return names;
}

cl_int CL_API_CALL program_info(cl_program p, cl_program_info param, size_t size, void* value,
                                size_t* size_ret) {
  if (!p) return CL_INVALID_PROGRAM;
  const std::string binary = kBinaryMagic + p->options + "\n" + p->source;
  switch (param) {
    case CL_PROGRAM_REFERENCE_COUNT:
      return answer(raw(count_of(*p)), size, value, size_ret);
    case CL_PROGRAM_CONTEXT:
      return answer(raw(p->context), size, value, size_ret);
    case CL_PROGRAM_NUM_DEVICES:
      return answer(raw<cl_uint>(1), size, value, size_ret);
    case CL_PROGRAM_DEVICES:
      return answer(raw(g_fast_device), size, value, size_ret);
    case CL_PROGRAM_SOURCE:
      return answer(text(p->source), size, value, size_ret);
    case CL_PROGRAM_BINARY_SIZES:
      return answer(raw(binary.size()), size, value, size_ret);
    case CL_PROGRAM_NUM_KERNELS:
      return answer(raw(text_of(p).kernels.size()), size, value, size_ret);
    case CL_PROGRAM_KERNEL_NAMES:
      return answer(text(kernel_names(p)), size, value, size_ret);
    case CL_PROGRAM_BINARIES:
      if (size_ret) *size_ret = sizeof(void*);
      if (value && size >= sizeof(void*)) {
        void* out = *static_cast<unsigned char**>(value);
        if (out) std::memcpy(out, binary.data(), binary.size());
      }
      return CL_SUCCESS;
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL build_info(cl_program p, cl_device_id, cl_program_build_info param, size_t size,
                              void* value, size_t* size_ret) {
  if (!p) return CL_INVALID_PROGRAM;
  switch (param) {
    case CL_PROGRAM_BUILD_STATUS:
      return answer(raw(p->status), size, value, size_ret);
    case CL_PROGRAM_BUILD_OPTIONS:
      return answer(text(p->options), size, value, size_ret);
    case CL_PROGRAM_BUILD_LOG:
      return answer(text(""), size, value, size_ret);
    case CL_PROGRAM_BINARY_TYPE:
      return answer(raw<cl_program_binary_type>(CL_PROGRAM_BINARY_TYPE_EXECUTABLE), size, value,
                    size_ret);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
      return answer(raw<size_t>(0), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_kernel CL_API_CALL create_kernel(cl_program p, const char* name, cl_int* code) {
  if (!p || !name) return created<_cl_kernel>(nullptr, CL_INVALID_PROGRAM, code);
  if (p->status != CL_BUILD_SUCCESS) {
    return created<_cl_kernel>(nullptr, CL_INVALID_PROGRAM_EXECUTABLE, code);
  }
  if (!text_of(p).kernels.count(name))
    return created<_cl_kernel>(nullptr, CL_INVALID_KERNEL_NAME, code);
  auto* kernel = new _cl_kernel;
  kernel->program = p;
  kernel->name = name;
  return created(kernel, CL_SUCCESS, code);
}

cl_int CL_API_CALL create_kernels(cl_program p, cl_uint room, cl_kernel* kernels, cl_uint* count) {
  if (!p) return CL_INVALID_PROGRAM;
  cl_uint made = 0;
  for (const auto& [name, text] : text_of(p).kernels) {
    if (kernels && made < room) kernels[made] = create_kernel(p, name.c_str(), nullptr);
    ++made;
  }
  if (count) *count = made;
  return CL_SUCCESS;
}

cl_int CL_API_CALL retain_kernel(cl_kernel k) { return retain(k, CL_INVALID_KERNEL); }
cl_int CL_API_CALL release_kernel(cl_kernel k) { return release(k, CL_INVALID_KERNEL); }

const KernelText& signature(cl_kernel k) { return text_of(k->program).kernels.at(k->name); }

cl_int CL_API_CALL set_arg(cl_kernel k, cl_uint index, size_t size, const void* value) {
  if (!k) return CL_INVALID_KERNEL;
  if (index >= signature(k).args.size()) return CL_INVALID_ARG_INDEX;
  k->args[index] = value ? std::string(static_cast<const char*>(value), size) : std::string();
  return CL_SUCCESS;
}

cl_int CL_API_CALL kernel_info(cl_kernel k, cl_kernel_info param, size_t size, void* value,
                               size_t* size_ret) {
  if (!k) return CL_INVALID_KERNEL;
  const auto args = static_cast<cl_uint>(signature(k).args.size());
  switch (param) {
    case CL_KERNEL_FUNCTION_NAME:
      return answer(text(k->name), size, value, size_ret);
    case CL_KERNEL_NUM_ARGS:
      return answer(raw(args), size, value, size_ret);
    case CL_KERNEL_REFERENCE_COUNT:
      return answer(raw(count_of(*k)), size, value, size_ret);
    case CL_KERNEL_CONTEXT:
      return answer(raw(k->program->context), size, value, size_ret);
    case CL_KERNEL_PROGRAM:
      return answer(raw(k->program), size, value, size_ret);
    case CL_KERNEL_ATTRIBUTES:
      return answer(text(""), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL work_group_info(cl_kernel k, cl_device_id, cl_kernel_work_group_info param,
                                   size_t size, void* value, size_t* size_ret) {
  if (!k) return CL_INVALID_KERNEL;
  static const size_t kNone[3] = {0, 0, 0};
  switch (param) {
    case CL_KERNEL_WORK_GROUP_SIZE:
      return answer(raw<size_t>(512), size, value, size_ret);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
      return answer(raw(kNone), size, value, size_ret);
    case CL_KERNEL_LOCAL_MEM_SIZE:
      return answer(raw<cl_ulong>(0), size, value, size_ret);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return answer(raw<size_t>(16), size, value, size_ret);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
      return answer(raw<cl_ulong>(0), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL arg_info(cl_kernel k, cl_uint index, cl_kernel_arg_info param, size_t size,
                            void* value, size_t* size_ret) {
  if (!k) return CL_INVALID_KERNEL;
  const auto& args = signature(k).args;
  if (index >= args.size()) return CL_INVALID_ARG_INDEX;
  const KernelArg& arg = args[index];
  cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  if (arg.global_pointer || arg.image) space = CL_KERNEL_ARG_ADDRESS_GLOBAL;
  if (arg.local_pointer) space = CL_KERNEL_ARG_ADDRESS_LOCAL;
  switch (param) {
    case CL_KERNEL_ARG_NAME:
      return answer(text(arg.name), size, value, size_ret);
    case CL_KERNEL_ARG_TYPE_NAME:
      return answer(text(arg.type), size, value, size_ret);
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      return answer(raw(space), size, value, size_ret);
    default:
      return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  }
}

}  // namespace

void install_fast_programs(Table& table) {
  set<Fn::clCreateProgramWithSource>(table, with_source);
  set<Fn::clCreateProgramWithBinary>(table, with_binary);
  set<Fn::clBuildProgram>(table, build);
  set<Fn::clCompileProgram>(table, compile);
  set<Fn::clLinkProgram>(table, link);
  set<Fn::clRetainProgram>(table, retain_program);
  set<Fn::clReleaseProgram>(table, release_program);
  set<Fn::clGetProgramInfo>(table, program_info);
  set<Fn::clGetProgramBuildInfo>(table, build_info);
  set<Fn::clCreateKernel>(table, create_kernel);
  set<Fn::clCreateKernelsInProgram>(table, create_kernels);
  set<Fn::clRetainKernel>(table, retain_kernel);
  set<Fn::clReleaseKernel>(table, release_kernel);
  set<Fn::clSetKernelArg>(table, set_arg);
  set<Fn::clGetKernelInfo>(table, kernel_info);
  set<Fn::clGetKernelWorkGroupInfo>(table, work_group_info);
  set<Fn::clGetKernelArgInfo>(table, arg_info);
}

}  // namespace fake_cl
