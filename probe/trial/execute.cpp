// The worker's half of a trial: build, run, read back. It reports what the driver did and judges
// nothing; the outputs go to the supervisor as they are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/numbers.h"
#include "base/result.h"
#include "kernels/launch_batch.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/trial/request.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

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
  auto whole = create_object<ClMem>(api, Stage::kEnqueue, "clCreateBuffer", [&](cl_int* status) {
    const size_t size = std::max<size_t>(request.bytes + 2 * request.guard, 16);
    return api.clCreateBuffer(session.context.get(), CL_MEM_READ_WRITE, size, nullptr, status);
  });
  if (!whole) return tl::unexpected(whole.error());
  device.whole = std::move(*whole);
  if (request.guard == 0) return {};
  const cl_buffer_region region{request.guard, request.bytes};
  auto part = create_object<ClMem>(api, Stage::kEnqueue, "clCreateSubBuffer", [&](cl_int* status) {
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
  auto image = create_object<ClMem>(api, Stage::kEnqueue, "clCreateImage", [&](cl_int* status) {
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

DrivenStatus enqueue(DriverSession& session, const TrialRequest& request) {
  const size_t* local = request.local[0] ? request.local.data() : nullptr;
  return enqueue_kernel(session, request.work_dim, request.global.data(), local);
}

// Fills the outputs with the sentinel, launches and reads them back as reading number `number`.
DrivenStatus launch_and_read(DriverSession& session, const TrialRequest& request,
                             std::vector<Device>& devices, int launches, int number,
                             nlohmann::json& reply) {
  for (Device& device : devices) {
    if (device.request.use != MemoryUse::kOut) continue;
    const std::vector<std::byte> sentinel(device.request.read_bytes(), std::byte{kSentinel});
    CLVET_DRIVE(write_memory(session, device, sentinel.data()));
  }
  for (int i = 0; i < launches; ++i) CLVET_DRIVE(enqueue(session, request));
  CLVET_DRIVE(finish_queue(session));
  for (Device& device : devices) {
    if (device.request.use != MemoryUse::kOut) continue;
    const uint64_t offset = device.request.read_bytes() * static_cast<uint64_t>(number);
    CLVET_DRIVE(read_memory(session, device, device.bytes.bytes().data() + offset));
  }
  reply["repeats"] = number + 1;
  return {};
}

DrivenStatus run_and_read(DriverSession& session, const TrialRequest& request,
                          std::vector<Device>& devices, nlohmann::json& reply) {
  for (int number = 0; number < request.repeats; ++number)
    CLVET_DRIVE(launch_and_read(session, request, devices, 1, number, reply));
  return {};
}

// Milliseconds for each of `launches` that one wait is for.
Driven<double> time_batch(DriverSession& session, const TrialRequest& request, int launches) {
  const double started = monotonic_seconds();
  for (int i = 0; i < launches; ++i) CLVET_DRIVE(enqueue(session, request));
  CLVET_DRIVE(finish_queue(session));
  return ms_since(started) / launches;
}

void tell_times(std::vector<double> single, const std::vector<double>& piped,
                nlohmann::json& reply) {
  std::sort(single.begin(), single.end());
  const auto at = [&](double share) {
    return single[static_cast<size_t>(share * static_cast<double>(single.size() - 1))];
  };
  reply["median_ms"] = at(0.5);
  reply["spread_ms"] = at(0.75) - at(0.25);
  reply["piped_ms"] = undisturbed(piped.empty() ? single : piped);
}

// Single launches, each waited for, and in turn with them, where they are short, launches one
// behind the other: what disturbs for some milliseconds disturbs neither alone. Before and after,
// the outputs are read: a driver that skips repeats is fast, and wrong.
DrivenStatus time_launches(DriverSession& session, const TrialRequest& request,
                           std::vector<Device>& devices, nlohmann::json& reply) {
  constexpr size_t kMost = 200, kLeast = 3;
  if (request.timing_seconds <= 0) return {};
  CLVET_DRIVE(launch_and_read(session, request, devices, 1, request.repeats, reply));
  std::vector<double> single, piped;
  double until = monotonic_seconds() + request.timing_seconds;
  int launches = 0;
  while (single.size() < kLeast || (single.size() < kMost && monotonic_seconds() < until)) {
    const auto one = time_batch(session, request, 1);
    if (!one) return tl::unexpected(one.error());
    single.push_back(*one);
    if (single.size() == kLeast) {
      launches = launches_in_batch(median(single));
      if (launches > 0) until += request.timing_seconds;
    }
    if (launches == 0) continue;
    const auto several = time_batch(session, request, launches);
    if (!several) return tl::unexpected(several.error());
    piped.push_back(*several);
  }
  tell_times(std::move(single), piped, reply);
  return launch_and_read(session, request, devices, std::max(launches, 1), request.repeats + 1,
                         reply);
}

DrivenStatus run_trial(DriverSession& session, const TrialRequest& request,
                       std::vector<Device>& devices, nlohmann::json& reply) {
  CLVET_DRIVE(build_kernel(session, request.program, reply));
  if (request.build_only) return {};
  CLVET_DRIVE(create_memory(session, devices));
  CLVET_DRIVE(set_args(session, request, devices));
  CLVET_DRIVE(run_and_read(session, request, devices, reply));
  return time_launches(session, request, devices, reply);
}

}  // namespace

Status handle_trial(DriverSession& session, Message& message, nlohmann::json& reply) {
  const TrialRequest request = trial_from_message(message.body);
  if (!session.queue)
    return fail(ErrorCode::kInternal, "a trial was asked for before a device was opened");
  std::vector<Device> devices(request.memory.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    Device& device = devices[i];
    device.request = request.memory[i];
    const bool out = device.request.use == MemoryUse::kOut;
    const uint64_t size =
        device.request.read_bytes() * static_cast<uint64_t>(out ? request.readings() : 1);
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
  if (!status) tell_fault(status.error(), reply);
  return {};
}

}  // namespace clvet
