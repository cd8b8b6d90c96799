#include "tests/fakes/dispatch.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

namespace fake_cl {
namespace {

using GetExtension = void*(CL_API_CALL*)(const char*);
using GetPlatforms = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);

struct Target {
  bool fast = false;
  void* library = nullptr;
  GetExtension extension = nullptr;
  std::vector<cl_platform_id> platforms;
  size_t slots = kSlots;
};

std::mutex g_mutex;
Target* g_target = nullptr;
std::set<void**>* g_patched = nullptr;

// Tables of older drivers end early; what lies behind them is not ours to write.
size_t slots_of_version(cl_platform_id platform) {
  char version[256] = {};
  if (real<Fn::clGetPlatformInfo>()(platform, CL_PLATFORM_VERSION, sizeof version - 1, version,
                                    nullptr) != CL_SUCCESS) {
    return Api<Fn::clSetEventCallback>::slot;
  }
  int major = 1, minor = 0;
  std::sscanf(version, "OpenCL %d.%d", &major, &minor);
  const int number = major * 10 + minor;
  if (number >= 30) return kSlots;
  if (number >= 22) return Api<Fn::clCreateBufferWithProperties>::slot;
  if (number >= 21) return Api<Fn::clSetProgramReleaseCallback>::slot;
  if (number >= 20) return Api<Fn::clCloneKernel>::slot;
  if (number >= 12) return Api<Fn::clCreateCommandQueueWithProperties>::slot;
  if (number >= 11) return Api<Fn::clCreateSubDevices>::slot;
  return Api<Fn::clSetEventCallback>::slot;
}

void make_writable(void** table, size_t slots) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(table) & ~(page - 1);
  const auto end = (reinterpret_cast<uintptr_t>(table + slots) + page - 1) & ~(page - 1);
  mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE);
}

void patch(void** table, size_t slots) {
  if (!g_patched) g_patched = new std::set<void**>;
  if (!g_patched->insert(table).second) return;
  make_writable(table, slots);
  for (size_t i = 0; i < slots; ++i) {
    if (hook_table()[i] && table[i]) table[i] = hook_table()[i];
  }
}

void load_real(Target& target, const char* path) {
  target.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!target.library) {
    std::fprintf(stderr, "fake_cl: %s\n", dlerror());
    return;
  }
  target.extension =
      reinterpret_cast<GetExtension>(dlsym(target.library, "clGetExtensionFunctionAddress"));
  auto get = reinterpret_cast<GetPlatforms>(dlsym(target.library, "clIcdGetPlatformIDsKHR"));
  if (!get && target.extension) {
    get = reinterpret_cast<GetPlatforms>(target.extension("clIcdGetPlatformIDsKHR"));
  }
  cl_uint count = 0;
  if (!get || get(0, nullptr, &count) != CL_SUCCESS || count == 0) return;
  target.platforms.resize(count);
  if (get(count, target.platforms.data(), nullptr) != CL_SUCCESS) target.platforms.clear();
  for (cl_platform_id platform : target.platforms) {
    void** table = *reinterpret_cast<void***>(platform);
    real_table()[Api<Fn::clGetPlatformInfo>::slot] = table[Api<Fn::clGetPlatformInfo>::slot];
    target.slots = slots_of_version(platform);
    std::memcpy(real_table().data(), table, target.slots * sizeof(void*));
    patch(table, target.slots);
  }
}

Target& target() {
  if (g_target) return *g_target;
  auto* loaded = new Target;
  const char* path = std::getenv("FAKE_CL_TARGET");
  if (!path || !*path || std::strcmp(path, "none") == 0) {
    static Table table;
    table = hook_table();
    loaded->fast = true;
    loaded->platforms.push_back(install_fast_device(real_table(), table.data()));
  } else {
    load_real(*loaded, path);
  }
  g_target = loaded;
  return *g_target;
}

}  // namespace

Table& real_table() {
  static Table table{};
  return table;
}

void patch_table_of(void* object) {
  if (!object) return;
  std::lock_guard lock(g_mutex);
  if (!g_target || g_target->fast) return;
  void** table = *reinterpret_cast<void***>(object);
  if (table) patch(table, g_target->slots);
}

cl_int target_platforms(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  if ((!platforms && !num_platforms) || (platforms && num_entries == 0)) return CL_INVALID_VALUE;
  std::lock_guard lock(g_mutex);
  const auto& known = target().platforms;
  if (num_platforms) *num_platforms = static_cast<cl_uint>(known.size());
  for (size_t i = 0; platforms && i < known.size() && i < num_entries; ++i) platforms[i] = known[i];
  return known.empty() ? CL_PLATFORM_NOT_FOUND_KHR : CL_SUCCESS;
}

void* target_extension_function(const char* name) {
  std::lock_guard lock(g_mutex);
  const Target& loaded = target();
  return loaded.extension ? loaded.extension(name) : nullptr;
}

bool target_is_fast_device() {
  std::lock_guard lock(g_mutex);
  return target().fast;
}

}  // namespace fake_cl
