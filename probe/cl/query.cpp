#include "probe/cl/query.h"

#include <CL/cl_ext.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/cl/api.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

enum class Kind { kText, kUint, kUlong, kSize, kSizes, kBool, kHex };

using Query = std::function<cl_int(size_t size, void* data, size_t* needed)>;

// The size first, then the bytes; both are checked, and what is not written stays zero.
cl_int fetch(const Query& query, std::string& bytes) {
  size_t needed = 0;
  cl_int status = query(0, nullptr, &needed);
  if (status != CL_SUCCESS) return status;
  if (needed > kMaxQueryBytes) return CL_INVALID_VALUE;
  bytes.assign(needed, '\0');
  if (needed == 0) return CL_SUCCESS;
  size_t written = needed;
  status = query(needed, bytes.data(), &written);
  bytes.resize(std::min(written, needed));
  return status;
}

template <class T>
std::string number(const std::string& bytes, const char* format) {
  T value{};
  if (bytes.size() < sizeof value) return "?";
  std::memcpy(&value, bytes.data(), sizeof value);
  return fmt::format(fmt::runtime(format), value);
}

std::string print(Kind kind, const std::string& bytes) {
  switch (kind) {
    case Kind::kText:
      return driver_string(bytes);
    case Kind::kUint:
      return number<cl_uint>(bytes, "{}");
    case Kind::kUlong:
      return number<cl_ulong>(bytes, "{}");
    case Kind::kSize:
      return number<size_t>(bytes, "{}");
    case Kind::kBool:
      return number<cl_bool>(bytes, "{}") == "0" ? "false" : "true";
    case Kind::kHex:
      return bytes.size() >= sizeof(cl_ulong) ? number<cl_ulong>(bytes, "{:#x}")
                                              : number<cl_uint>(bytes, "{:#x}");
    case Kind::kSizes:
      break;
  }
  std::vector<size_t> values(bytes.size() / sizeof(size_t));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(size_t));
  return fmt::format("{}", fmt::join(values, " "));
}

std::string text_of(const Query& query) {
  std::string bytes;
  return fetch(query, bytes) == CL_SUCCESS ? driver_string(bytes) : std::string();
}

Query device_query(const ClApi& api, cl_device_id device, cl_device_info what) {
  return [&api, device, what](size_t size, void* data, size_t* needed) {
    const StageMarker stage(Stage::kEnumerate, "clGetDeviceInfo");
    return api.clGetDeviceInfo(device, what, size, data, needed);
  };
}

// What no driver writes: bytes that still hold it were not written.
constexpr std::byte kUnwritten{0xC7};
constexpr size_t kRoomBehind = size_t{1} << 20;

template <class T>
Status get_one(const ClApi& api, cl_program program, cl_program_info what, const char* name,
               T& value) {
  size_t written = 0;
  const cl_int code = api.clGetProgramInfo(program, what, sizeof value, &value, &written);
  if (code != CL_SUCCESS) {
    return tl::unexpected<Error>(
        Error{ErrorCode::kDeviceError,
              fmt::format("clGetProgramInfo({}) failed: {}", name, cl_error_name(code)), code});
  }
  if (written == sizeof value) return {};
  return fail(ErrorCode::kUnsupported, "clGetProgramInfo({}) gives {} bytes in place of {}", name,
              written, sizeof value);
}

bool is_unwritten(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == kUnwritten; });
}

}  // namespace

std::map<std::string, PropertyValue> query_device(const ClApi& api, cl_device_id device) {
  std::map<std::string, PropertyValue> properties;
  const auto add = [&](const char* name, cl_device_info what, Kind kind) {
    std::string bytes;
    const cl_int status = fetch(device_query(api, device, what), bytes);
    properties[name] =
        status == CL_SUCCESS ? PropertyValue{print(kind, bytes), 0} : PropertyValue{{}, status};
  };
  const auto add_of = [&](const char* extension, const char* name, cl_device_info what, Kind kind) {
    const std::vector<std::string> advertised =
        split(properties["CL_DEVICE_EXTENSIONS"].value, ' ');
    if (std::ranges::find(advertised, extension) != advertised.end()) add(name, what, kind);
  };
#define CLVET_PROPERTY(constant, kind) add(#constant, constant, Kind::kind);
#define CLVET_PROPERTY_OF(extension, constant, kind) \
  add_of(#extension, #constant, constant, Kind::kind);
#include "probe/cl/properties.inc"
#undef CLVET_PROPERTY_OF
#undef CLVET_PROPERTY
  return properties;
}

std::string platform_text(const ClApi& api, cl_platform_id platform, cl_platform_info what) {
  return text_of([&](size_t size, void* data, size_t* needed) {
    const StageMarker stage(Stage::kEnumerate, "clGetPlatformInfo");
    return api.clGetPlatformInfo(platform, what, size, data, needed);
  });
}

std::string device_text(const ClApi& api, cl_device_id device, cl_device_info what) {
  return text_of(device_query(api, device, what));
}

cl_int list_platforms(const ClApi& api, std::vector<cl_platform_id>& platforms) {
  const StageMarker stage(Stage::kEnumerate, "clGetPlatformIDs");
  constexpr cl_uint kMost = 64;
  cl_uint count = 0;
  cl_int status = api.clGetPlatformIDs(0, nullptr, &count);
  constexpr cl_int kNoIcd = -1001;
  if (status == kNoIcd) count = 0, status = CL_SUCCESS;
  platforms.assign(std::min(count, kMost), nullptr);
  if (status != CL_SUCCESS || platforms.empty()) return status;
  status = api.clGetPlatformIDs(static_cast<cl_uint>(platforms.size()), platforms.data(), nullptr);
  std::erase(platforms, nullptr);
  return status;
}

cl_int list_devices(const ClApi& api, cl_platform_id platform, std::vector<cl_device_id>& devices) {
  const StageMarker stage(Stage::kEnumerate, "clGetDeviceIDs");
  constexpr cl_uint kMost = 64;
  cl_uint count = 0;
  cl_int status = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (status == CL_DEVICE_NOT_FOUND) count = 0, status = CL_SUCCESS;
  devices.assign(std::min(count, kMost), nullptr);
  if (status != CL_SUCCESS || devices.empty()) return status;
  status = api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, static_cast<cl_uint>(devices.size()),
                              devices.data(), nullptr);
  std::erase(devices, nullptr);
  return status;
}

std::string build_log(const ClApi& api, cl_program program, cl_device_id device, size_t& claimed) {
  const StageMarker stage(Stage::kBuild, "clGetProgramBuildInfo");
  claimed = 0;
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &claimed) !=
          CL_SUCCESS ||
      claimed == 0) {
    return {};
  }
  // A log beyond the cap is named by its size: a driver that lies about it may also overrun it.
  if (claimed > kMaxQueryBytes) return {};
  std::string bytes(claimed, '\0');
  size_t written = claimed;
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, claimed, bytes.data(),
                                &written) != CL_SUCCESS) {
    return {};
  }
  return driver_string(bytes);
}

Result<std::vector<std::byte>> program_binary(const ClApi& api, cl_program program, size_t most) {
  const StageMarker stage(Stage::kBuild, "clGetProgramInfo");
  if (!api.clGetProgramInfo) {
    return fail(ErrorCode::kUnsupported, "the driver has no clGetProgramInfo");
  }
  cl_uint devices = 0;
  CLVET_RETURN_IF_ERROR(get_one(api, program, CL_PROGRAM_NUM_DEVICES, "NUM_DEVICES", devices));
  if (devices != 1) {
    return fail(ErrorCode::kUnsupported, "the program has {} devices in place of one", devices);
  }
  size_t size = 0;
  CLVET_RETURN_IF_ERROR(get_one(api, program, CL_PROGRAM_BINARY_SIZES, "BINARY_SIZES", size));
  if (size == 0) return fail(ErrorCode::kUnsupported, "the binary of a program has no bytes");
  if (size > most) {
    return fail(ErrorCode::kUnsupported, "the binary of a program has {} bytes", size);
  }
  const std::shared_ptr<std::byte> memory = page_memory(size + kRoomBehind);
  if (!memory) return fail(ErrorCode::kResourceExhausted, "there is no memory for {} bytes", size);
  const std::span<std::byte> room(memory.get(), size + kRoomBehind);
  std::fill(room.begin(), room.end(), kUnwritten);
  std::byte* target = room.data();
  CLVET_RETURN_IF_ERROR(get_one(api, program, CL_PROGRAM_BINARIES, "BINARIES", target));
  constexpr size_t kTail = 16;
  const std::span<const std::byte> made = room.first(size);
  if (target != room.data() || !is_unwritten(room.subspan(size)) ||
      is_unwritten(made.last(std::min(size, kTail)))) {
    return fail(ErrorCode::kUnsupported,
                "the binary of a program has not the {} bytes that the driver names", size);
  }
  return std::vector<std::byte>(made.begin(), made.end());
}

}  // namespace clvet
