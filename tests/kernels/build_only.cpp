// clvet_build_only LIBRARY FILE: has the first device of an OpenCL library compile FILE, a program
// as clvet_kernel_dump writes it, and make its kernels, and does nothing else. What a compiler
// prints of itself then stands alone on standard error. Exit 0: built; 1: refused, with the build
// log; 2: could not be tried. A compiler that dies takes this program with it.
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

constexpr int kRefused = 1;
constexpr int kNotTried = 2;
constexpr std::string_view kOptions = "// options: ";

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

int give_up(const char* what) {
  std::fprintf(stderr, "clvet_build_only: %s\n", what ? what : "no reason known");
  return kNotTried;
}

// The one device's context, and what the build needs of the library.
struct Driver {
  void* library = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
};

const char* open_driver(const char* name, Driver& driver) {
  driver.library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!driver.library) return ::dlerror();
  const auto platforms = symbol<decltype(::clGetPlatformIDs)>(driver.library, "clGetPlatformIDs");
  const auto devices = symbol<decltype(::clGetDeviceIDs)>(driver.library, "clGetDeviceIDs");
  const auto context = symbol<decltype(::clCreateContext)>(driver.library, "clCreateContext");
  if (!platforms || !devices || !context) return "a function is not there";
  cl_platform_id platform = nullptr;
  if (platforms(1, &platform, nullptr) != CL_SUCCESS) return "no platform";
  if (devices(platform, CL_DEVICE_TYPE_ALL, 1, &driver.device, nullptr) != CL_SUCCESS)
    return "no device";
  cl_int code = CL_SUCCESS;
  driver.context = context(nullptr, 1, &driver.device, nullptr, nullptr, &code);
  return driver.context ? nullptr : "no context";
}

int refuse(const Driver& driver, cl_program program, cl_int code) {
  std::string log(1 << 16, '\0');
  const auto info =
      symbol<decltype(::clGetProgramBuildInfo)>(driver.library, "clGetProgramBuildInfo");
  size_t size = 0;
  if (info) info(program, driver.device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &size);
  std::printf("refused: %d %s\n", code, log.c_str());
  return kRefused;
}

int build(const Driver& driver, const std::string& text, const std::string& options) {
  const auto create =
      symbol<decltype(::clCreateProgramWithSource)>(driver.library, "clCreateProgramWithSource");
  const auto compile = symbol<decltype(::clBuildProgram)>(driver.library, "clBuildProgram");
  const auto kernels =
      symbol<decltype(::clCreateKernelsInProgram)>(driver.library, "clCreateKernelsInProgram");
  if (!create || !compile || !kernels) return give_up("a function is not there");
  const char* source = text.c_str();
  const size_t length = text.size();
  cl_int code = CL_SUCCESS;
  cl_program program = create(driver.context, 1, &source, &length, &code);
  if (!program) return give_up("no program");
  code = compile(program, 1, &driver.device, options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) return refuse(driver, program, code);
  cl_kernel kernel = nullptr;
  cl_uint count = 0;
  code = kernels(program, 1, &kernel, &count);
  if (code != CL_SUCCESS || count != 1) return refuse(driver, program, code);
  std::puts("built");
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return give_up("clvet_build_only LIBRARY FILE");
  std::ifstream file(words[2]);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (text.rfind(kOptions, 0) != 0) return give_up("the first line of the file has no options");
  const size_t end = text.find('\n');
  Driver driver;
  if (const char* fault = open_driver(words[1], driver)) return give_up(fault);
  return build(driver, text, text.substr(kOptions.size(), end - kOptions.size()));
}
