#include "probe/trial/placed_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/report/report.h"
#include "probe/trial/request.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"

namespace clvet {
namespace {

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

Driven<MemoryObject> create_buffer(DriverSession& session, const MemoryRequest& request) {
  const ClApi& api = session.api();
  MemoryObject object;
  auto whole = create_object<ClMem>(api, Stage::kEnqueue, "clCreateBuffer", [&](cl_int* status) {
    const size_t size = std::max<size_t>(request.bytes + 2 * request.guard, 16);
    return api.clCreateBuffer(session.context.get(), CL_MEM_READ_WRITE, size, nullptr, status);
  });
  if (!whole) return tl::unexpected(whole.error());
  object.whole = std::move(*whole);
  if (request.guard == 0) return object;
  const cl_buffer_region region{request.guard, request.bytes};
  auto part = create_object<ClMem>(api, Stage::kEnqueue, "clCreateSubBuffer", [&](cl_int* status) {
    return api.clCreateSubBuffer(object.whole.get(), CL_MEM_READ_WRITE,
                                 CL_BUFFER_CREATE_TYPE_REGION, &region, status);
  });
  if (!part) return tl::unexpected(part.error());
  object.part = std::move(*part);
  return object;
}

Driven<MemoryObject> create_image(DriverSession& session, const MemoryRequest& request) {
  const ClApi& api = session.api();
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
  return MemoryObject{std::move(*image), {}};
}

struct ImageRegion {
  size_t origin[3] = {0, 0, 0};
  size_t extent[3];
  ImageRegion(int64_t width, int64_t height)
      : extent{static_cast<size_t>(width), static_cast<size_t>(height), 1} {}
};

DrivenStatus write_memory(DriverSession& session, PlacedMemory& object, const std::byte* bytes) {
  const ClApi& api = session.api();
  const MemoryRequest& request = object.request;
  if (!request.image) {
    return run_call(Stage::kEnqueue, "clEnqueueWriteBuffer", [&] {
      return api.clEnqueueWriteBuffer(session.queue.get(), object.whole(), CL_TRUE, 0,
                                      request.read_bytes(), bytes, 0, nullptr, nullptr);
    });
  }
  const ImageRegion region(request.width + request.guard_texels,
                           request.height + request.guard_texels);
  return run_call(Stage::kEnqueue, "clEnqueueWriteImage", [&] {
    return api.clEnqueueWriteImage(session.queue.get(), object.whole(), CL_TRUE, region.origin,
                                   region.extent, 0, 0, bytes, 0, nullptr, nullptr);
  });
}

DrivenStatus read_memory(DriverSession& session, PlacedMemory& object, std::byte* bytes) {
  const ClApi& api = session.api();
  const MemoryRequest& request = object.request;
  if (!request.image) {
    return run_call(Stage::kRead, "clEnqueueReadBuffer", [&] {
      return api.clEnqueueReadBuffer(session.queue.get(), object.whole(), CL_TRUE, 0,
                                     request.read_bytes(), bytes, 0, nullptr, nullptr);
    });
  }
  const ImageRegion region(request.width + request.guard_texels,
                           request.height + request.guard_texels);
  return run_call(Stage::kRead, "clEnqueueReadImage", [&] {
    return api.clEnqueueReadImage(session.queue.get(), object.whole(), CL_TRUE, region.origin,
                                  region.extent, 0, 0, bytes, 0, nullptr, nullptr);
  });
}

DrivenStatus enqueue(DriverSession& session, const TrialRequest& request) {
  const size_t* local = request.local[0] ? request.local.data() : nullptr;
  return enqueue_kernel(session, request.work_dim, request.global.data(), local);
}

DrivenStatus create(DriverSession& session, PlacedMemory& memory) {
  auto object = memory.request.image ? create_image(session, memory.request)
                                     : create_buffer(session, memory.request);
  if (!object) return tl::unexpected(object.error());
  memory.object = std::make_shared<const MemoryObject>(std::move(*object));
  return {};
}

Driven<PlacedMemory> copy_of(DriverSession& session, const PlacedMemory& object) {
  PlacedMemory copy;
  copy.request = object.request;
  CLVET_DRIVE(create(session, copy));
  CLVET_DRIVE(write_memory(session, copy, object.bytes.bytes().data()));
  return copy;
}

void create_copies(DriverSession& session, PlacedMemory& object) {
  for (int i = 1; i < object.request.copies; ++i) {
    auto copy = copy_of(session, object);
    if (!copy) return object.copies.clear();
    object.copies.push_back(std::move(*copy));
  }
}

template <class T>
DrivenStatus set_arg(DriverSession& session, cl_uint index, const T& value) {
  return run_call(Stage::kCreateKernel, "clSetKernelArg", [&] {
    return session.api().clSetKernelArg(session.built.kernel.get(), index, sizeof value, &value);
  });
}

// The next launch has the next copies.
DrivenStatus turn(DriverSession& session, const TrialRequest& request,
                  std::vector<PlacedMemory>& memory) {
  for (cl_uint index = 0; index < request.args.size(); ++index) {
    const int number = request.args[index].memory;
    if (number < 0 || memory[static_cast<size_t>(number)].copies.empty()) continue;
    PlacedMemory& object = memory[static_cast<size_t>(number)];
    const PlacedMemory& next =
        object.turn < object.copies.size() ? object.copies[object.turn] : object;
    CLVET_DRIVE(set_arg(session, index, next.argument()));
    object.turn = (object.turn + 1) % (object.copies.size() + 1);
  }
  return {};
}

}  // namespace

Result<std::vector<PlacedMemory>> map_memory(const TrialRequest& request,
                                             const std::vector<UniqueFd>& fds) {
  std::vector<PlacedMemory> memory(request.memory.size());
  for (size_t i = 0; i < memory.size(); ++i) {
    PlacedMemory& object = memory[i];
    object.request = request.memory[i];
    const bool out = object.request.use == MemoryUse::kOut;
    const uint64_t size =
        object.request.read_bytes() * static_cast<uint64_t>(out ? request.readings() : 1);
    const int fd = fds.at(static_cast<size_t>(object.request.fd)).get();
    CLVET_ASSIGN_OR_RETURN(object.bytes, Mapping::of(fd, size, out));
  }
  return memory;
}

DrivenStatus create_memory(DriverSession& session, std::vector<PlacedMemory>& memory) {
  for (PlacedMemory& object : memory) {
    if (!object.object) CLVET_DRIVE(create(session, object));
    if (object.request.use == MemoryUse::kIn && object.request.read_bytes() > 0) {
      CLVET_DRIVE(write_memory(session, object, object.bytes.bytes().data()));
      create_copies(session, object);
    }
  }
  return {};
}

DrivenStatus set_args(DriverSession& session, const TrialRequest& request,
                      const std::vector<PlacedMemory>& memory) {
  cl_uint index = 0;
  for (const ArgRequest& arg : request.args) {
    const auto set = [&] {
      if (arg.memory >= 0)
        return set_arg(session, index, memory[static_cast<size_t>(arg.memory)].argument());
      if (arg.memory == ArgRequest::kNull) return set_arg(session, index, cl_mem{});
      return arg.is_float ? set_arg(session, index, arg.float_value)
                          : set_arg(session, index, arg.int_value);
    };
    CLVET_DRIVE(set());
    ++index;
  }
  return {};
}

Driven<double> time_batch(DriverSession& session, const TrialRequest& request,
                          std::vector<PlacedMemory>& memory, int launches) {
  const double started = monotonic_seconds();
  for (int i = 0; i < launches; ++i) {
    CLVET_DRIVE(enqueue(session, request));
    CLVET_DRIVE(turn(session, request, memory));
  }
  CLVET_DRIVE(finish_queue(session));
  return ms_since(started) / launches;
}

DrivenStatus clear_outputs(DriverSession& session, std::vector<PlacedMemory>& memory) {
  for (PlacedMemory& object : memory) {
    if (object.request.use != MemoryUse::kOut) continue;
    const std::vector<std::byte> sentinel(object.request.read_bytes(), std::byte{kSentinel});
    CLVET_DRIVE(write_memory(session, object, sentinel.data()));
  }
  return {};
}

DrivenStatus read_outputs(DriverSession& session, std::vector<PlacedMemory>& memory, int number,
                          nlohmann::json& reply) {
  for (PlacedMemory& object : memory) {
    if (object.request.use != MemoryUse::kOut) continue;
    const uint64_t offset = object.request.read_bytes() * static_cast<uint64_t>(number);
    CLVET_DRIVE(read_memory(session, object, object.bytes.bytes().data() + offset));
  }
  reply["repeats"] = number + 1;
  return {};
}

}  // namespace clvet
