#include "runtime/exec/device.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "base/result.h"
#include "kernels/call.h"
#include "kernels/layout.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/cl/library.h"
#include "probe/cl/query.h"
#include "probe/process/driver_files.h"
#include "probe/report/report.h"
#include "runtime/exec/buffer_map.h"
#include "runtime/exec/cl_status.h"
#include "runtime/exec/flight.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

struct Region {
  size_t origin[3] = {0, 0, 0};
  size_t size[3];
  explicit Region(const ImageExtent& extent)
      : size{static_cast<size_t>(extent.width), static_cast<size_t>(extent.height), 1} {}
};

}  // namespace

// Drivers put a few bytes among their commands. For more they may pin the pages first: 6.5 MB take
// 10 ms on an H200 where a write that is waited for takes 0.5.
static constexpr size_t kMostWrittenLater = size_t{1} << 15;

// Fewer bytes gain nothing from pinned memory; it is scarce, so there is an upper limit, too.
static constexpr size_t kLeastPinned = size_t{1} << 10, kMostPinned = size_t{1} << 24;
// The driver is asked for at least so much of it at once.
static constexpr size_t kLeastRow = size_t{1} << 20;

// Where maps are right, and not slower than reading.
static bool reads_by_maps(const DeviceReport& report) {
  if (!shows_true(report, kMapReads)) return false;
  const PeaksReport& peaks = report.peaks;
  return !peaks.map_us || !peaks.read_us || *peaks.map_us <= *peaks.read_us;
}

static bool has_one_memory(const DeviceReport& report) {
  const auto unified = report.properties.find("CL_DEVICE_HOST_UNIFIED_MEMORY");
  return is_processor(report) ||
         (unified != report.properties.end() && unified->second.value == "true");
}

// The device works in the host's memory, and a trial found that right.
static bool works_in_host_memory(const DeviceReport& report) {
  return has_one_memory(report) && shows_true(report, kMapReads) &&
         shows_true(report, "host_pointer");
}

// Of the files that drivers mapped since `before`, one that the probe did not see: a loader or an
// environment may lead elsewhere than it led the probe. Empty: none, or the report does not tell.
static std::string strange_file(const DeviceReport& report, const BeforeDriver& before) {
  const auto is_strange = [&](const std::string& path) {
    return std::none_of(report.objects.begin(), report.objects.end(),
                        [&](const DriverObject& row) { return row.path == path; });
  };
  if (report.objects.empty()) return {};
  const std::vector<std::string> files = driver_files(before);
  const auto found = std::find_if(files.begin(), files.end(), is_strange);
  return found == files.end() ? "" : *found;
}

// One at a time: what two drivers map side by side cannot be told apart.
static std::mutex opening;

Result<std::unique_ptr<Device>> Device::open(const DeviceReport& report, Flight& flight) {
  const std::lock_guard one_at_a_time(opening);
  flight.on(report.environment_key);
  const InDriver calls(flight, Stage::kLoad);
  const BeforeDriver before = BeforeDriver::now();
  auto library = load_library(report.library);
  if (!library) {
    return fail(ErrorCode::kUnavailable, "cannot load {}: {}", report.library,
                library.error().reason);
  }
  std::unique_ptr<Device> device(new Device(std::move(*library), flight));
  CLVET_RETURN_IF_ERROR(device->find(report));
  CLVET_RETURN_IF_ERROR(device->connect());
  if (const std::string file = strange_file(report, before); !file.empty()) {
    return fail(ErrorCode::kUnavailable,
                "{} loaded {}, which it did not load for the report; run 'clvet probe' again",
                report.library, file);
  }
  device->maps_ = {.reads = reads_by_maps(report),
                   .pins = !has_one_memory(report) && shows_true(report, kMapReads)};
  device->shares_memory_ = works_in_host_memory(report);
  return device;
}

Status Device::find(const DeviceReport& report) {
  std::vector<cl_platform_id> platforms;
  CLVET_RETURN_IF_ERROR(cl_status(list_platforms(api(), platforms), "clGetPlatformIDs"));
  int alike = 0;
  for (cl_platform_id platform : platforms) {
    if (platform_text(api(), platform, CL_PLATFORM_NAME) != report.platform) continue;
    std::vector<cl_device_id> devices;
    if (list_devices(api(), platform, devices) != CL_SUCCESS) continue;
    for (cl_device_id device : devices) {
      const bool same = device_text(api(), device, CL_DEVICE_NAME) == report.name &&
                        device_text(api(), device, CL_DRIVER_VERSION) == report.driver;
      if (!same || alike++ < report.ordinal) continue;
      platform_ = platform;
      device_ = device;
      return {};
    }
  }
  return fail(ErrorCode::kUnavailable,
              "{} no longer lists the device {} with driver {}; run 'clvet probe' again",
              report.library, report.name, report.driver);
}

Status Device::connect() {
  cl_int code = CL_SUCCESS;
  ClContext context(api(), api().clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code));
  CLVET_ASSIGN_OR_RETURN(context_, checked(std::move(context), code, "clCreateContext"));
  programs_.set_place(context_.get(), device_);
  CLVET_ASSIGN_OR_RETURN(queue_, make_queue(0));
  return {};
}

Result<ClQueue> Device::make_queue(cl_command_queue_properties properties) {
  cl_int code = CL_SUCCESS;
  ClQueue queue(api(), api().clCreateCommandQueue(context_.get(), device_, properties, &code));
  return checked(std::move(queue), code, "clCreateCommandQueue");
}

Result<ClKernel> Device::kernel(const TableRow& row) {
  const double started = monotonic_seconds();
  auto kernel = programs_.kernel(row);
  build_ms_ += ms_since(started);
  return kernel;
}

Result<ClMem> Device::buffer(size_t bytes) {
  cl_int code = CL_SUCCESS;
  const size_t size = bytes + kBufferSlack;
  ClMem made(api(), api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, size, nullptr, &code));
  if (made) allocated_ += size;
  return checked(std::move(made), code, "clCreateBuffer");
}

Result<ClMem> Device::part(cl_mem whole, size_t first, size_t bytes) {
  const InDriver calls(flight_, Stage::kEnqueue);
  const cl_buffer_region region{first, bytes};
  cl_int code = CL_SUCCESS;
  ClMem made(api(), api().clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                            &region, &code));
  return checked(std::move(made), code, "clCreateSubBuffer");
}

Result<ClMem> Device::buffer_over_host(size_t bytes, std::shared_ptr<std::byte>& memory) {
  const size_t size = whole_pages(bytes + kBufferSlack);
  memory = page_memory(size);
  if (!memory) return fail(ErrorCode::kResourceExhausted, "there is no memory for {} bytes", size);
  const InDriver calls(flight_, Stage::kEnqueue);
  cl_int code = CL_SUCCESS;
  ClMem made(api(), api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                         size, memory.get(), &code));
  if (made) allocated_ += size;
  return checked(std::move(made), code, "clCreateBuffer");
}

Result<Device::Pinned> Device::make_pinned(size_t bytes) {
  const InDriver calls(flight_, Stage::kMap);
  cl_int code = CL_SUCCESS;
  ClMem made(api(), api().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                         bytes, nullptr, &code));
  CLVET_ASSIGN_OR_RETURN(ClMem buffer, checked(std::move(made), code, "clCreateBuffer"));
  CLVET_ASSIGN_OR_RETURN(BufferMap map, BufferMap::of(api(), queue_.get(), buffer.get(), bytes,
                                                      CL_MAP_READ | CL_MAP_WRITE));
  if (reinterpret_cast<uintptr_t>(map.bytes().data()) % alignof(cl_float4) != 0) {
    return fail(ErrorCode::kDeviceError,
                "clEnqueueMapBuffer returned an address that is not a multiple of {}",
                alignof(cl_float4));
  }
  // If there is no memory, the process dies here, where the record names the map.
  std::ranges::fill(map.bytes(), std::byte{0});
  return Pinned{std::move(buffer), std::move(map)};
}

std::span<std::byte> Device::unused_pinned(size_t bytes) {
  for (Pinned& row : pinned_) {
    const std::span<std::byte> rest = row.map.bytes().subspan(row.used);
    if (rest.size() < bytes) continue;
    row.used += whole_pages(bytes);
    return rest.first(bytes);
  }
  return {};
}

Result<std::span<std::byte>> Device::pinned(size_t bytes) {
  if (!maps_.pins || bytes < kLeastPinned || bytes > kMostPinned) return std::span<std::byte>{};
  if (const auto memory = unused_pinned(bytes); !memory.empty()) return memory;
  CLVET_RETURN_IF_ERROR(finish());
  const size_t row = std::bit_ceil(std::max(bytes, kLeastRow));
  size_t all = row;
  for (const Pinned& made : pinned_) all += made.map.bytes().size();
  if (all <= kMostPinned) {
    auto made = make_pinned(row);
    maps_.pins = made.has_value();
    if (!made) return std::span<std::byte>{};
    pinned_.push_back(std::move(*made));
  }
  return unused_pinned(bytes);
}

Result<void*> Device::map_for_writing(cl_mem buffer, size_t bytes) {
  const InDriver calls(flight_, Stage::kMap);
  cl_int code = CL_SUCCESS;
  void* mapped = api().clEnqueueMapBuffer(queue_.get(), buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                          0, bytes, 0, nullptr, nullptr, &code);
  CLVET_ASSIGN_OR_RETURN(mapped, checked(mapped, code, "clEnqueueMapBuffer"));
  waited();
  return mapped;
}

Status Device::unmap(cl_mem buffer, void* mapped) {
  const InDriver calls(flight_, Stage::kMap);
  return cl_status(api().clEnqueueUnmapMemObject(queue_.get(), buffer, mapped, 0, nullptr, nullptr),
                   "clEnqueueUnmapMemObject");
}

Result<ClMem> Device::image(const ImageExtent& extent, cl_channel_type type) {
  if (!api().clCreateImage) return fail(ErrorCode::kDeviceError, "the driver has no clCreateImage");
  const cl_image_format format{CL_RGBA, type};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = static_cast<size_t>(extent.width);
  description.image_height = static_cast<size_t>(extent.height);
  cl_int code = CL_SUCCESS;
  ClMem made(api(), api().clCreateImage(context_.get(), CL_MEM_READ_WRITE, &format, &description,
                                        nullptr, &code));
  const size_t texel = 4 * (type == CL_FLOAT ? sizeof(cl_float) : sizeof(cl_half));
  if (made) allocated_ += description.image_width * description.image_height * texel;
  return checked(std::move(made), code, "clCreateImage");
}

Status Device::write(cl_mem buffer, std::span<const std::byte> bytes) {
  const InDriver calls(flight_, Stage::kEnqueue);
  if (bytes.empty()) return {};
  return cl_status(api().clEnqueueWriteBuffer(queue_.get(), buffer, CL_TRUE, 0, bytes.size(),
                                              bytes.data(), 0, nullptr, nullptr),
                   "clEnqueueWriteBuffer");
}

Status Device::enqueue_write(cl_mem buffer, std::span<const std::byte> bytes) {
  return cl_status(api().clEnqueueWriteBuffer(queue_.get(), buffer, CL_FALSE, 0, bytes.size(),
                                              bytes.data(), 0, nullptr, nullptr),
                   "clEnqueueWriteBuffer");
}

Status Device::write_later(cl_mem buffer, std::span<const std::byte> bytes) {
  if (bytes.size() > kMostWrittenLater) return write(buffer, bytes);
  if (bytes.empty()) return {};
  const InDriver calls(flight_, Stage::kEnqueue);
  return enqueue_write(buffer, written_later_.emplace_back(bytes.begin(), bytes.end()));
}

Status Device::upload(cl_mem buffer, std::span<const std::byte> bytes) {
  if (bytes.size() <= kMostWrittenLater) return write_later(buffer, bytes);
  CLVET_ASSIGN_OR_RETURN(const std::span<std::byte> memory, pinned(bytes.size()));
  if (memory.empty()) return write(buffer, bytes);
  std::ranges::copy(bytes, memory.begin());
  const InDriver calls(flight_, Stage::kMap);
  return enqueue_write(buffer, memory);
}

Status Device::copy(cl_mem from, cl_mem to, size_t bytes) {
  const InDriver calls(flight_, Stage::kEnqueue);
  if (!api().clEnqueueCopyBuffer) {
    return fail(ErrorCode::kUnsupported, "the driver has no clEnqueueCopyBuffer");
  }
  return cl_status(
      api().clEnqueueCopyBuffer(queue_.get(), from, to, 0, 0, bytes, 0, nullptr, nullptr),
      "clEnqueueCopyBuffer");
}

Status Device::write_image(cl_mem image, const ImageExtent& extent,
                           std::span<const std::byte> bytes) {
  const InDriver calls(flight_, Stage::kEnqueue);
  const Region region(extent);
  return cl_status(api().clEnqueueWriteImage(queue_.get(), image, CL_TRUE, region.origin,
                                             region.size, 0, 0, bytes.data(), 0, nullptr, nullptr),
                   "clEnqueueWriteImage");
}

Status Device::read(cl_mem buffer, std::span<std::byte> bytes) {
  if (bytes.empty()) return {};
  std::span<std::byte> memory;
  if (!maps_.reads) {
    CLVET_ASSIGN_OR_RETURN(memory, pinned(bytes.size()));
  }
  const std::span<std::byte> target = memory.empty() ? bytes : memory;
  const InDriver calls(flight_, maps_.reads || !memory.empty() ? Stage::kMap : Stage::kRead);
  if (maps_.reads) {
    CLVET_ASSIGN_OR_RETURN(BufferMap map,
                           BufferMap::of(api(), queue_.get(), buffer, bytes.size(), CL_MAP_READ));
    std::memcpy(bytes.data(), map.bytes().data(), bytes.size());
    waited();
    return map.unmap();
  }
  CLVET_RETURN_IF_ERROR(
      cl_status(api().clEnqueueReadBuffer(queue_.get(), buffer, CL_TRUE, 0, target.size(),
                                          target.data(), 0, nullptr, nullptr),
                "clEnqueueReadBuffer"));
  if (!memory.empty()) std::ranges::copy(memory, bytes.begin());
  waited();
  return {};
}

Status Device::read_image(cl_mem image, const ImageExtent& extent, std::span<std::byte> bytes) {
  const InDriver calls(flight_, Stage::kRead);
  const Region region(extent);
  CLVET_RETURN_IF_ERROR(
      cl_status(api().clEnqueueReadImage(queue_.get(), image, CL_TRUE, region.origin, region.size,
                                         0, 0, bytes.data(), 0, nullptr, nullptr),
                "clEnqueueReadImage"));
  waited();
  return {};
}

void Device::written() {
  written_later_.clear();
  for (Pinned& row : pinned_) row.used = 0;
}

void Device::waited() {
  written();
  flight_.waited();
}

Status Device::enqueue(const TableRow& row, cl_kernel kernel, const KernelCall& call,
                       ClEvent* done) {
  flight_.take(row.name);
  flight_.launched();
  const InDriver calls(flight_, Stage::kEnqueue);
  cl_event event = nullptr;
  const size_t* local = call.local[0] ? call.local.data() : nullptr;
  const cl_int code = api().clEnqueueNDRangeKernel(
      queue_.get(), kernel, static_cast<cl_uint>(call.work_dim), nullptr, call.global.data(), local,
      0, nullptr, timing_ || done ? &event : nullptr);
  ClEvent made(api(), event);
  if (!done) {
    if (event) launches_.push_back(std::move(made));
    return cl_status(code, "clEnqueueNDRangeKernel");
  }
  CLVET_ASSIGN_OR_RETURN(*done, checked(std::move(made), code, "clEnqueueNDRangeKernel"));
  return {};
}

Status Device::finish() {
  const InDriver calls(flight_, Stage::kFinish);
  CLVET_RETURN_IF_ERROR(cl_status(api().clFinish(queue_.get()), "clFinish"));
  waited();
  return {};
}

Device::~Device() {
  const bool busy = !written_later_.empty() ||
                    std::ranges::any_of(pinned_, [](const Pinned& row) { return row.used > 0; });
  if (busy && queue_) api().clFinish(queue_.get());
}

Result<ClMem> filled_buffer(Device& device, std::span<const std::byte> bytes) {
  CLVET_ASSIGN_OR_RETURN(ClMem memory, device.buffer(bytes.size()));
  CLVET_RETURN_IF_ERROR(device.write(memory.get(), bytes));
  return memory;
}

Result<ClMem> filled_image(Device& device, const ImageExtent& extent, cl_channel_type type,
                           std::span<const std::byte> bytes) {
  CLVET_ASSIGN_OR_RETURN(ClMem memory, device.image(extent, type));
  CLVET_RETURN_IF_ERROR(device.write_image(memory.get(), extent, bytes));
  return memory;
}

}  // namespace clvet
