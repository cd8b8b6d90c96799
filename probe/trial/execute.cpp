// The worker's half of a trial: build, run, read back. It reports what the driver did and judges
// nothing; the outputs go to the supervisor as they are.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/cl/program.h"
#include "probe/cl/query.h"
#include "probe/report/report.h"
#include "probe/trial/request.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"
#include "probe/worker/stage_page.h"

namespace clvet {
namespace {

// Ends a trial early: what the driver did wrong, in the words of the report.
struct DriverFault {
  Verdict verdict = Verdict::kLaunchError;
  Stage stage = Stage::kEnqueue;
  std::string call;
  cl_int code = CL_SUCCESS;
  std::string note;
};

template <class T>
using Driven = tl::expected<T, DriverFault>;
using DrivenStatus = Driven<void>;

tl::unexpected<DriverFault> refused(Stage stage, const char* call, cl_int code) {
  return tl::unexpected(DriverFault{Verdict::kLaunchError, stage, call, code, {}});
}

tl::unexpected<DriverFault> lied(Stage stage, const char* call, std::string note) {
  return tl::unexpected(DriverFault{Verdict::kLie, stage, call, CL_SUCCESS, std::move(note)});
}

// Calls a function that creates an object, with its stage marked, and checks code and object.
template <class Handle, class Create>
Driven<Handle> create(const ClApi& api, Stage stage, const char* call, const Create& make) {
  cl_int status = CL_SUCCESS;
  Handle handle;
  {
    const StageMarker marker(stage, call);
    handle = Handle(api, make(&status));
  }
  if (status != CL_SUCCESS) return refused(stage, call, status);
  if (!handle) return lied(stage, call, fmt::format("{} returned success and no object", call));
  return handle;
}

template <class Call>
DrivenStatus run_call(Stage stage, const char* name, const Call& call, bool may_compile = false) {
  cl_int status = CL_SUCCESS;
  {
    const StageMarker marker(stage, name, may_compile);
    status = call();
  }
  if (status != CL_SUCCESS) return refused(stage, name, status);
  return {};
}

#define CLVET_DRIVE(expression)                                      \
  do {                                                               \
    if (auto driven = (expression); !driven) {                       \
      return tl::unexpected<DriverFault>(std::move(driven).error()); \
    }                                                                \
  } while (false)

void release_program(DriverSession& session) {
  if (session.kernel) {
    const StageMarker marker(Stage::kRelease, "clReleaseKernel");
    session.kernel.reset();
  }
  if (session.program) {
    const StageMarker marker(Stage::kRelease, "clReleaseProgram");
    session.program.reset();
  }
  session.kernel_ran = false;
}

DrivenStatus build(DriverSession& session, const Program& program, nlohmann::json& reply) {
  if (session.kernel && session.program_key == program.key) return {};
  const ClApi& api = session.api();
  release_program(session);
  const double started = monotonic_seconds();
  auto created = create<ClProgram>(
      api, Stage::kBuild, "clCreateProgramWithSource",
      [&](cl_int* status) { return create_program(api, session.context.get(), program, status); });
  if (!created) return tl::unexpected(created.error());
  session.program = std::move(*created);
  cl_int status = CL_SUCCESS;
  {
    const StageMarker marker(Stage::kBuild, "clBuildProgram");
    status = api.clBuildProgram(session.program.get(), 1, &session.device, program.options.c_str(),
                                nullptr, nullptr);
  }
  if (status != CL_SUCCESS) {
    size_t claimed = 0;
    reply["log"] = build_log(api, session.program.get(), session.device, claimed);
    reply["log_bytes"] = claimed;
    return tl::unexpected(
        DriverFault{Verdict::kBuildError, Stage::kBuild, "clBuildProgram", status, {}});
  }
  auto kernel = create<ClKernel>(api, Stage::kCreateKernel, "clCreateKernel", [&](cl_int* status) {
    return api.clCreateKernel(session.program.get(), program.entry.c_str(), status);
  });
  if (!kernel) {
    DriverFault fault = kernel.error();
    if (fault.verdict == Verdict::kLaunchError) fault.verdict = Verdict::kKernelCreateFailed;
    return tl::unexpected(fault);
  }
  session.kernel = std::move(*kernel);
  session.program_key = program.key;
  reply["build_ms"] = (monotonic_seconds() - started) * 1e3;
  return {};
}

// A memory object of the trial with the bytes that fill or receive it.
struct Device {
  MemoryRequest request;
  ClMem whole;  // the allocation with its guards
  ClMem part;   // buffers with guards: the tensor alone
  Mapping bytes;
  cl_mem argument() const { return part ? part.get() : whole.get(); }
};

cl_image_format format_of(TexelType type) {
  switch (type) {
    case TexelType::kFloat:
      return {CL_RGBA, CL_FLOAT};
    case TexelType::kHalf:
      return {CL_RGBA, CL_HALF_FLOAT};
    case TexelType::kUint16:
      return {CL_RGBA, CL_UNSIGNED_INT16};
    case TexelType::kInt32:
      return {CL_RGBA, CL_SIGNED_INT32};
  }
  return {CL_RGBA, CL_FLOAT};
}

DrivenStatus create_buffer(DriverSession& session, Device& device) {
  const ClApi& api = session.api();
  const MemoryRequest& request = device.request;
  auto whole = create<ClMem>(api, Stage::kEnqueue, "clCreateBuffer", [&](cl_int* status) {
    const size_t size = std::max<size_t>(request.bytes + 2 * request.guard, 16);
    return api.clCreateBuffer(session.context.get(), CL_MEM_READ_WRITE, size, nullptr, status);
  });
  if (!whole) return tl::unexpected(whole.error());
  device.whole = std::move(*whole);
  if (request.guard == 0) return {};
  const cl_buffer_region region{request.guard, request.bytes};
  auto part = create<ClMem>(api, Stage::kEnqueue, "clCreateSubBuffer", [&](cl_int* status) {
    return api.clCreateSubBuffer(device.whole.get(), CL_MEM_READ_WRITE,
                                 CL_BUFFER_CREATE_TYPE_REGION, &region, status);
  });
  if (!part) return tl::unexpected(part.error());
  device.part = std::move(*part);
  return {};
}

DrivenStatus create_image(DriverSession& session, Device& device) {
  const ClApi& api = session.api();
  const MemoryRequest& request = device.request;
  const cl_image_format format = format_of(request.texel);
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = static_cast<size_t>(request.width + request.guard_texels);
  description.image_height = static_cast<size_t>(request.height + request.guard_texels);
  auto image = create<ClMem>(api, Stage::kEnqueue, "clCreateImage", [&](cl_int* status) {
    return api.clCreateImage(session.context.get(), CL_MEM_READ_WRITE, &format, &description,
                             nullptr, status);
  });
  if (!image) return tl::unexpected(image.error());
  device.whole = std::move(*image);
  return {};
}

struct ImageRegion {
  size_t origin[3] = {0, 0, 0};
  size_t extent[3];
  ImageRegion(int64_t width, int64_t height)
      : extent{static_cast<size_t>(width), static_cast<size_t>(height), 1} {}
};

DrivenStatus write_memory(DriverSession& session, Device& device, const std::byte* bytes) {
  const ClApi& api = session.api();
  const MemoryRequest& request = device.request;
  if (!request.image) {
    return run_call(Stage::kEnqueue, "clEnqueueWriteBuffer", [&] {
      return api.clEnqueueWriteBuffer(session.queue.get(), device.whole.get(), CL_TRUE, 0,
                                      request.read_bytes(), bytes, 0, nullptr, nullptr);
    });
  }
  const ImageRegion region(request.width + request.guard_texels,
                           request.height + request.guard_texels);
  return run_call(Stage::kEnqueue, "clEnqueueWriteImage", [&] {
    return api.clEnqueueWriteImage(session.queue.get(), device.whole.get(), CL_TRUE, region.origin,
                                   region.extent, 0, 0, bytes, 0, nullptr, nullptr);
  });
}

DrivenStatus read_memory(DriverSession& session, Device& device, std::byte* bytes) {
  const ClApi& api = session.api();
  const MemoryRequest& request = device.request;
  if (!request.image) {
    return run_call(Stage::kRead, "clEnqueueReadBuffer", [&] {
      return api.clEnqueueReadBuffer(session.queue.get(), device.whole.get(), CL_TRUE, 0,
                                     request.read_bytes(), bytes, 0, nullptr, nullptr);
    });
  }
  const ImageRegion region(request.width + request.guard_texels,
                           request.height + request.guard_texels);
  return run_call(Stage::kRead, "clEnqueueReadImage", [&] {
    return api.clEnqueueReadImage(session.queue.get(), device.whole.get(), CL_TRUE, region.origin,
                                  region.extent, 0, 0, bytes, 0, nullptr, nullptr);
  });
}

DrivenStatus create_memory(DriverSession& session, std::vector<Device>& devices) {
  for (Device& device : devices) {
    CLVET_DRIVE(device.request.image ? create_image(session, device)
                                     : create_buffer(session, device));
    if (device.request.use == MemoryUse::kIn && device.request.read_bytes() > 0) {
      CLVET_DRIVE(write_memory(session, device, device.bytes.bytes().data()));
    }
  }
  return {};
}

DrivenStatus set_args(DriverSession& session, const TrialRequest& request,
                      const std::vector<Device>& devices) {
  cl_uint index = 0;
  for (const ArgRequest& arg : request.args) {
    CLVET_DRIVE(run_call(Stage::kCreateKernel, "clSetKernelArg", [&] {
      const auto set = [&](const auto& value) {
        return session.api().clSetKernelArg(session.kernel.get(), index, sizeof value, &value);
      };
      if (arg.memory >= 0) return set(devices[static_cast<size_t>(arg.memory)].argument());
      return arg.is_float ? set(arg.float_value) : set(arg.int_value);
    }));
    ++index;
  }
  return {};
}

DrivenStatus launch(DriverSession& session, const TrialRequest& request) {
  const bool may_compile = !session.kernel_ran;
  const size_t* local = request.local[0] ? request.local.data() : nullptr;
  CLVET_DRIVE(run_call(
      Stage::kEnqueue, "clEnqueueNDRangeKernel",
      [&] {
        return session.api().clEnqueueNDRangeKernel(
            session.queue.get(), session.kernel.get(), static_cast<cl_uint>(request.work_dim),
            nullptr, request.global.data(), local, 0, nullptr, nullptr);
      },
      may_compile));
  CLVET_DRIVE(run_call(
      Stage::kFinish, "clFinish", [&] { return session.api().clFinish(session.queue.get()); },
      may_compile));
  session.kernel_ran = true;
  return {};
}

DrivenStatus run_and_read(DriverSession& session, const TrialRequest& request,
                          std::vector<Device>& devices) {
  for (int repeat = 0; repeat < request.repeats; ++repeat) {
    for (Device& device : devices) {
      if (device.request.use != MemoryUse::kOut) continue;
      const std::vector<std::byte> sentinel(device.request.read_bytes(), std::byte{kSentinel});
      CLVET_DRIVE(write_memory(session, device, sentinel.data()));
    }
    CLVET_DRIVE(launch(session, request));
    for (Device& device : devices) {
      if (device.request.use != MemoryUse::kOut) continue;
      const uint64_t offset = device.request.read_bytes() * static_cast<uint64_t>(repeat);
      CLVET_DRIVE(read_memory(session, device, device.bytes.bytes().data() + offset));
    }
  }
  return {};
}

// Median and interquartile spread of single launches, each waited for.
DrivenStatus time_launches(DriverSession& session, const TrialRequest& request,
                           nlohmann::json& reply) {
  if (request.timing_seconds <= 0) return {};
  constexpr size_t kMost = 50, kLeast = 3;
  std::vector<double> samples;
  const double until = monotonic_seconds() + request.timing_seconds;
  while (samples.size() < kLeast || (samples.size() < kMost && monotonic_seconds() < until)) {
    const double started = monotonic_seconds();
    CLVET_DRIVE(launch(session, request));
    samples.push_back((monotonic_seconds() - started) * 1e3);
  }
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<size_t>(share * static_cast<double>(samples.size() - 1))];
  };
  reply["median_ms"] = at(0.5);
  reply["spread_ms"] = at(0.75) - at(0.25);
  return {};
}

DrivenStatus run_trial(DriverSession& session, const TrialRequest& request,
                       std::vector<Device>& devices, nlohmann::json& reply) {
  CLVET_DRIVE(build(session, request.program, reply));
  CLVET_DRIVE(create_memory(session, devices));
  CLVET_DRIVE(set_args(session, request, devices));
  CLVET_DRIVE(run_and_read(session, request, devices));
  return time_launches(session, request, reply);
}

}  // namespace

Status handle_trial(DriverSession& session, Message& message, nlohmann::json& reply) {
  const TrialRequest request = trial_from_message(message.body);
  if (!session.queue) return fail(ErrorCode::kInternal, "a trial before a device was opened");
  std::vector<Device> devices(request.memory.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    Device& device = devices[i];
    device.request = request.memory[i];
    const bool out = device.request.use == MemoryUse::kOut;
    const uint64_t size =
        device.request.read_bytes() * static_cast<uint64_t>(out ? request.repeats : 1);
    const int fd = message.fds.at(static_cast<size_t>(device.request.fd)).get();
    CLVET_ASSIGN_OR_RETURN(device.bytes, Mapping::of(fd, size, out));
  }
  const DrivenStatus status = run_trial(session, request, devices, reply);
  {
    const StageMarker marker(Stage::kRelease, "clReleaseMemObject");
    devices.clear();
  }
  // Here and not before the next build, where a crash would be laid at another kernel's door.
  if (request.release_program || !status) release_program(session);
  if (!status) {
    const DriverFault& fault = status.error();
    reply["verdict"] = to_string(fault.verdict);
    reply["stage"] = to_string(fault.stage);
    reply["call"] = fault.call;
    reply["cl_error"] = fault.code;
    reply["note"] = fault.note;
  }
  return {};
}

}  // namespace clvet
