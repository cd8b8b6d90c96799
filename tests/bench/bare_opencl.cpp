// The least that a program of OpenCL does: it loads a library, and makes a context and a queue on
// the first device. clvet_bare_opencl LIBRARY. What first_result.py compares a start of clvet with.
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

int give_up(const char* what) {
  std::fprintf(stderr, "clvet_bare_opencl: %s\n", what);
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return give_up("name the library");
  void* library = ::dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return give_up(::dlerror());
  const auto platforms = symbol<decltype(::clGetPlatformIDs)>(library, "clGetPlatformIDs");
  const auto devices = symbol<decltype(::clGetDeviceIDs)>(library, "clGetDeviceIDs");
  const auto context = symbol<decltype(::clCreateContext)>(library, "clCreateContext");
  const auto queue = symbol<decltype(::clCreateCommandQueue)>(library, "clCreateCommandQueue");
  if (!platforms || !devices || !context || !queue) return give_up("a function is not there");
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (platforms(1, &platform, nullptr) != CL_SUCCESS) return give_up("no platform");
  if (devices(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
    return give_up("no device");
  cl_int code = CL_SUCCESS;
  const cl_context made = context(nullptr, 1, &device, nullptr, nullptr, &code);
  if (!made || !queue(made, device, 0, &code)) return give_up("no context or queue");
  std::puts("ready");
  std::fflush(stdout);
  ::_exit(0);
}
