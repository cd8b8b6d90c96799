#include "probe/cl/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/elf_library.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/cl/api.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

using GetPlatforms = decltype(&::clGetPlatformIDs);
using GetAddress = void* (*)(const char*);

std::string path_of(void* handle, const std::string& name) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name) {
    std::error_code error;
    const auto real = std::filesystem::canonical(map->l_name, error);
    return error ? map->l_name : real.string();
  }
  return name;
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// dlopen says of a file for another processor that it is not there.
LoadFailure explain_failure(const std::string& name, const std::string& text) {
  LoadFailure failure = classify_load_error(name, text);
  if (failure.outcome != CandidateOutcome::kAbsent || name.find('/') == std::string::npos)
    return failure;
  const auto library = read_elf_library(name, nullptr);
  const auto own = read_elf_library("/proc/self/exe", nullptr);
  if (!library || !own || library->machine == own->machine) return failure;
  return {CandidateOutcome::kWrongElfClass,
          fmt::format("{} is built for another processor (ELF machine {}, here {}); install the "
                      "package for this "
                      "architecture",
                      clean_utf8(name), library->machine, own->machine)};
}

// Tells the two common loaders apart by the query that both answer.
void identify_loader(void* handle, LoadedLibrary& library) {
  const auto get_address =
      reinterpret_cast<GetAddress>(::dlsym(handle, "clGetExtensionFunctionAddress"));
  if (!get_address || library.through_icd) return;
  using GetInfo = cl_int (*)(cl_uint, size_t, void*, size_t*);
  const auto get_info = reinterpret_cast<GetInfo>(get_address("clGetICDLoaderInfoOCLICD"));
  if (!get_info) return;
  constexpr cl_uint kVersion = 2,
                    kVendor = 4;  // cl_ocl_icd.h: OCL_VERSION=1, VERSION=2, NAME=3, VENDOR=4
  char text[256] = {};
  size_t size = 0;
  if (get_info(kVendor, sizeof text - 1, text, &size) == CL_SUCCESS) {
    library.loader_kind =
        contains_ignoring_case(text, "khronos") ? LoaderKind::kKhronos : LoaderKind::kOclIcd;
  }
  std::fill(std::begin(text), std::end(text), '\0');
  if (get_info(kVersion, sizeof text - 1, text, &size) == CL_SUCCESS) {
    library.loader_version = driver_string({text, sizeof text});
  }
}

// Google's library exports this pair alone: the first readies it, the second gives each entry
// point. nullopt where there is no such pair.
std::optional<ClApi> enter_google(void* handle) {
  const auto enable = reinterpret_cast<void (*)()>(::dlsym(handle, "enableOpenCL"));
  const auto pointer =
      reinterpret_cast<void* (*)(const char*)>(::dlsym(handle, "loadOpenCLPointer"));
  if (!enable || !pointer) return std::nullopt;
  enable();
  return api_from_symbols(pointer);
}

GetPlatforms icd_entry(void* handle) {
  constexpr const char* kName = "clIcdGetPlatformIDsKHR";
  if (void* exported = ::dlsym(handle, kName)) return reinterpret_cast<GetPlatforms>(exported);
  const auto get_address =
      reinterpret_cast<GetAddress>(::dlsym(handle, "clGetExtensionFunctionAddress"));
  return get_address ? reinterpret_cast<GetPlatforms>(get_address(kName)) : nullptr;
}

tl::expected<LoadedLibrary, LoadFailure> enter_icd(void* handle, LoadedLibrary library) {
  const GetPlatforms get_platforms = icd_entry(handle);
  if (!get_platforms) {
    return tl::unexpected(LoadFailure{
        CandidateOutcome::kMissingSymbols,
        "it exports neither clGetPlatformIDs nor clIcdGetPlatformIDsKHR, so it holds no OpenCL"});
  }
  cl_platform_id platforms[16] = {};
  cl_uint count = 0;
  const cl_int status = get_platforms(16, platforms, &count);
  if (status == -1001 || (status == CL_SUCCESS && count == 0)) {
    return tl::unexpected(LoadFailure{CandidateOutcome::kNoPlatform, "it lists no platform"});
  }
  if (status != CL_SUCCESS || !platforms[0]) {
    return tl::unexpected(
        LoadFailure{CandidateOutcome::kError,
                    fmt::format("clIcdGetPlatformIDsKHR failed: {}", cl_error_name(status))});
  }
  library.api = api_from_dispatch(platforms[0], get_platforms);
  library.through_icd = true;
  return library;
}

tl::expected<LoadedLibrary, LoadFailure> enter(void* handle, LoadedLibrary library) {
  if (auto google = enter_google(handle)) {
    library.api = *google;
  } else if (::dlsym(handle, "clGetPlatformIDs")) {
    library.api = api_from_symbols([&](const char* symbol) { return ::dlsym(handle, symbol); });
  } else {
    return enter_icd(handle, std::move(library));
  }
  return library;
}

}  // namespace

LoadFailure classify_load_error(const std::string& name, const std::string& text) {
  const std::string clean = clean_utf8(text);
  if (mentions(text, "wrong ELF class") || mentions(text, "cannot open shared object file: Exec")) {
    return {
        CandidateOutcome::kWrongElfClass,
        fmt::format("{} (built for another word size; install the package for this architecture)",
                    clean)};
  }
  if (mentions(text, "not accessible for the namespace") || mentions(text, "Permission denied")) {
    return {CandidateOutcome::kNotAccessible, clean};
  }
  if (mentions(text, "cannot open shared object file")) {
    const bool itself = text.rfind(name + ":", 0) == 0;
    if (itself) return {CandidateOutcome::kAbsent, clean};
    return {CandidateOutcome::kMissingDependency,
            fmt::format("{} (install the library that it needs)", clean)};
  }
  if (mentions(text, "undefined symbol") || mentions(text, "not found (required by")) {
    return {CandidateOutcome::kMissingDependency, clean};
  }
  return {CandidateOutcome::kError, clean};
}

tl::expected<LoadedLibrary, LoadFailure> load_library(const std::string& name) {
  ::dlerror();
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* text = ::dlerror();
    return tl::unexpected(explain_failure(name, text ? text : "dlopen failed and gave no reason"));
  }
  LoadedLibrary found;
  found.path = path_of(handle, name);
  auto library = enter(handle, std::move(found));
  if (!library) return library;
  library->symbols = library->api.found();
  if (const auto missing = library->api.missing(); !missing.empty()) {
    return tl::unexpected(
        LoadFailure{CandidateOutcome::kMissingSymbols,
                    fmt::format("it lacks {} of the functions that clvet needs, for example {}",
                                missing.size(), missing.front())});
  }
  identify_loader(handle, *library);
  return library;
}

}  // namespace clvet
