#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/elf.h"
#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/cl/library.h"
#include "probe/cl/query.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

nlohmann::json property_json(const PropertyValue& property) {
  if (property.error != 0) return {{"error", property.error}};
  return property.value;
}

nlohmann::json describe_device(const ClApi& api, cl_device_id device) {
  nlohmann::json properties = nlohmann::json::object();
  for (const auto& [name, value] : query_device(api, device))
    properties[name] = property_json(value);
  return {{"properties", std::move(properties)}};
}

nlohmann::json describe_platform(const ClApi& api, cl_platform_id platform) {
  nlohmann::json out = {{"name", platform_text(api, platform, CL_PLATFORM_NAME)},
                        {"vendor", platform_text(api, platform, CL_PLATFORM_VENDOR)},
                        {"version", platform_text(api, platform, CL_PLATFORM_VERSION)},
                        {"extensions", platform_text(api, platform, CL_PLATFORM_EXTENSIONS)},
                        {"devices", nlohmann::json::array()}};
  std::vector<cl_device_id> devices;
  out["status"] = list_devices(api, platform, devices);
  for (cl_device_id device : devices) out["devices"].push_back(describe_device(api, device));
  return out;
}

// Loads the library of the session if that has not been done; the failure goes into `reply`.
bool ensure_library(DriverSession& session, const std::string& name, nlohmann::json& reply) {
  if (session.library) return true;
  const StageMarker stage(Stage::kLoad, "dlopen");
  auto loaded = load_library(name);
  if (!loaded) {
    reply["outcome"] = to_string(loaded.error().outcome);
    reply["reason"] = loaded.error().reason;
    return false;
  }
  session.library = std::move(*loaded);
  return true;
}

void describe_library(const LoadedLibrary& library, nlohmann::json& reply) {
  reply["path"] = library.path;
  reply["symbols"] = library.symbols;
  reply["build_id"] = read_build_id(library.path).value_or(std::string());
  reply["through_icd"] = library.through_icd;
  reply["loader_kind"] = to_string(library.loader_kind);
  reply["loader_version"] = library.loader_version;
  reply["platforms"] = nlohmann::json::array();
}

// The steps of opening: false where the reply tells why it goes no further.
bool find_device(DriverSession& session, const nlohmann::json& request, nlohmann::json& reply) {
  std::vector<cl_platform_id> platforms;
  std::vector<cl_device_id> devices;
  const auto platform_index = request.at("platform").get<size_t>();
  const auto device_index = request.at("device").get<size_t>();
  cl_int status = list_platforms(session.api(), platforms);
  if (status == CL_SUCCESS && platform_index < platforms.size()) {
    session.platform = platforms[platform_index];
    status = list_devices(session.api(), session.platform, devices);
  }
  if (status != CL_SUCCESS || device_index >= devices.size()) {
    reply["call"] = "clGetDeviceIDs";
    reply["cl_error"] = status == CL_SUCCESS ? CL_DEVICE_NOT_FOUND : status;
    return false;
  }
  session.device = devices[device_index];
  return true;
}

bool open_context(DriverSession& session, nlohmann::json& reply) {
  const ClApi& api = session.api();
  cl_int status = CL_SUCCESS;
  {
    const StageMarker stage(Stage::kContext, "clCreateContext");
    session.context =
        ClContext(api, api.clCreateContext(nullptr, 1, &session.device, nullptr, nullptr, &status));
  }
  reply["call"] = "clCreateContext";
  reply["cl_error"] = status;
  if (status == CL_SUCCESS && !session.context) {
    reply["lie"] = "clCreateContext returned success and no context";
  }
  return status == CL_SUCCESS && session.context;
}

void open_queue(DriverSession& session, nlohmann::json& reply) {
  const ClApi& api = session.api();
  cl_int status = CL_SUCCESS;
  {
    const StageMarker stage(Stage::kContext, "clCreateCommandQueue");
    session.queue =
        ClQueue(api, api.clCreateCommandQueue(session.context.get(), session.device, 0, &status));
  }
  reply["call"] = "clCreateCommandQueue";
  reply["cl_error"] = status;
  if (status == CL_SUCCESS && !session.queue) {
    reply["lie"] = "clCreateCommandQueue returned success and no queue";
  }
}

}  // namespace

Status handle_enumerate(DriverSession& session, Message& request, nlohmann::json& reply) {
  if (!ensure_library(session, request.body.at("library").get<std::string>(), reply)) return {};
  const ClApi& api = session.api();
  describe_library(*session.library, reply);
  std::vector<cl_platform_id> platforms;
  const cl_int status = list_platforms(api, platforms);
  if (status != CL_SUCCESS) {
    reply["outcome"] = "error";
    reply["reason"] = fmt::format("clGetPlatformIDs failed: {}", cl_error_name(status));
    return {};
  }
  size_t devices = 0;
  for (cl_platform_id platform : platforms) {
    reply["platforms"].push_back(describe_platform(api, platform));
    devices += reply["platforms"].back()["devices"].size();
  }
  reply["outcome"] = platforms.empty() ? "no-platform" : devices == 0 ? "no-device" : "usable";
  reply["reason"] = platforms.empty() ? "it lists no platform"
                    : devices == 0    ? "its platforms list no device"
                                      : "";
  return {};
}

Status handle_open(DriverSession& session, Message& request, nlohmann::json& reply) {
  session.processor = request.body.value("processor", false);
  if (!ensure_library(session, request.body.at("library").get<std::string>(), reply)) return {};
  if (find_device(session, request.body, reply) && open_context(session, reply)) {
    open_queue(session, reply);
  }
  return {};
}

}  // namespace clvet
