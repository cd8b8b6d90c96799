// An OpenCL device opened in this process, for running what a report vouches for.
//
// The only place where the runtime loads a driver. Every call's code is checked, every returned
// pointer too; a failure is an Error with kDeviceError, the OpenCL code and the call's name.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/layout.h"
#include "probe/cl/api.h"
#include "probe/cl/handles.h"
#include "probe/cl/library.h"
#include "probe/report/report.h"
#include "runtime/exec/buffer_map.h"
#include "runtime/exec/cl_status.h"
#include "runtime/exec/flight.h"
#include "runtime/exec/programs.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

class Device {
 public:
  // Loads the library that the report names and finds the device again by its strings. kUnavailable
  // where it is not there or another driver answers. Each call of the driver is written down in
  // `flight`, which must outlive the device.
  static Result<std::unique_ptr<Device>> open(const DeviceReport& report, Flight& flight);

  // Builds once a program key.
  Result<ClKernel> kernel(const TableRow& row);
  Programs& programs() { return programs_; }
  Result<ClMem> buffer(size_t bytes);
  // Some of the bytes of `whole`, from a multiple of kPartAlign (decoder_memory.h) on.
  Result<ClMem> part(cl_mem whole, size_t first, size_t bytes);
  // RGBA texels of float, half or ushort.
  Result<ClMem> image(const ImageExtent& extent, cl_channel_type type);

  // Over page-aligned memory of the host, filled with zeros, which is to live until the buffer is
  // released (CL_MEM_USE_HOST_PTR). kResourceExhausted: there is none.
  Result<ClMem> buffer_over_host(size_t bytes, std::shared_ptr<std::byte>& memory);
  // Where the host may write what such a buffer holds, until unmap(); waits until it is there.
  Result<void*> map_for_writing(cl_mem buffer, size_t bytes);
  Status unmap(cl_mem buffer, void* mapped);

  Status write(cl_mem buffer, std::span<const std::byte> bytes);
  // Does not wait for a few bytes: keeps a copy until the next read or finish. Waits for more.
  Status write_later(cl_mem buffer, std::span<const std::byte> bytes);
  // As write_later(), but waits for no number of bytes where the device reads them by itself from
  // pinned memory.
  Status upload(cl_mem buffer, std::span<const std::byte> bytes);
  Status write_image(cl_mem image, const ImageExtent& extent, std::span<const std::byte> bytes);
  // Memory of the host for read_beside(), which the driver gave where it gives good memory.
  class HostMemory;
  HostMemory host_memory(size_t bytes);
  // The first `bytes` of one buffer into another.
  Status copy(cl_mem from, cl_mem to, size_t bytes);
  // Through a mapping where the report says that one is right and no slower, else by a read, which
  // goes through pinned memory where there is some.
  Status read(cl_mem buffer, std::span<std::byte> bytes);
  Status read_image(cl_mem image, const ImageExtent& extent, std::span<std::byte> bytes);
  // `row`: the variant of the kernel; `done`, if given, becomes the event of its end.
  Status enqueue(const TableRow& row, cl_kernel kernel, const KernelCall& call,
                 ClEvent* done = nullptr);
  // Reads on a queue of its own, once `after` has come: what is enqueued from here on does not wait
  // for it. The bytes are there once wait_for() has seen the event that it returns.
  Result<ClEvent> read_beside(cl_mem buffer, std::span<std::byte> bytes, const ClEvent& after);
  Status wait_for(const ClEvent& event);
  Status finish();
  // Launches from here on are timed by the device, on a queue of their own until end_timing().
  // kUnsupported: the driver keeps no times.
  Status begin_timing();
  // Milliseconds that the device spent in launches since begin_timing(): their sum, without gaps.
  Result<double> end_timing();

  ~Device();

  const ClApi& api() const { return library_.api; }
  double build_ms() const { return build_ms_; }
  Flight& flight() { return flight_; }
  // Whether bytes come and go through what the driver maps.
  bool uses_maps() const { return maps_.reads || maps_.pins; }
  struct Maps {
    bool reads = false;  // buffers are mapped, in place of a read
    bool pins = false;   // transfers pass through memory that the driver gave and that stays mapped
  };
  Maps exchange_maps(Maps maps) { return std::exchange(maps_, maps); }
  // Whether host and device share their memory, and trials found buffers over the host's right.
  bool shares_memory() const { return shares_memory_; }
  // Bytes of all that buffer() and image() gave, whether or not it was given back.
  size_t allocated() const { return allocated_; }

 private:
  Device(LoadedLibrary library, Flight& flight)
      : library_(std::move(library)), flight_(flight), programs_(library_.api, flight_) {}
  Status find(const DeviceReport& report);
  Status connect();
  void waited();  // for all that was asked
  // Memory of the host that the driver gave, mapped.
  struct Pinned {
    ClMem buffer;
    BufferMap map;
    size_t used = 0;  // bytes that a transfer may still need
  };
  Result<Pinned> make_pinned(size_t bytes);
  void written();  // all that was to be written
  // Pinned memory until the next wait; empty: none for so many bytes. May wait for all that was
  // asked, whose errors it returns.
  Result<std::span<std::byte>> pinned(size_t bytes);
  std::span<std::byte> unused_pinned(size_t bytes);
  Status enqueue_write(cl_mem buffer, std::span<const std::byte> bytes);
  Result<ClQueue> make_queue(cl_command_queue_properties properties);

  LoadedLibrary library_;
  Flight& flight_;
  cl_platform_id platform_ = nullptr;
  cl_device_id device_ = nullptr;
  ClContext context_;
  ClQueue queue_, untimed_queue_, beside_queue_;
  std::vector<Bytes> written_later_;
  bool timing_ = false;
  std::vector<ClEvent> launches_;  // while timing
  // A driver may die where it releases something: what is spent stays until the end.
  std::vector<ClEvent> spent_events_;
  std::vector<ClQueue> spent_queues_;
  std::vector<Pinned> pinned_;  // its maps end on those queues
  Programs programs_;
  Maps maps_;
  bool shares_memory_ = false;
  double build_ms_ = 0;
  size_t allocated_ = 0;
};

class Device::HostMemory {
 public:
  HostMemory() = default;
  std::span<std::byte> bytes() { return pinned_ ? pinned_->map.bytes() : std::span(own_); }
  std::span<const std::byte> bytes() const {
    return pinned_ ? pinned_->map.bytes() : std::span<const std::byte>(own_);
  }

 private:
  friend class Device;
  std::unique_ptr<Pinned> pinned_;
  Bytes own_;
};

template <class T>
Status set_arg(const Device& device, cl_kernel kernel, size_t index, const T& value) {
  return cl_status(
      device.api().clSetKernelArg(kernel, static_cast<cl_uint>(index), sizeof value, &value),
      "clSetKernelArg");
}

// All arguments of a call; object_of(arg) gives the cl_mem of one that is neither a number nor
// absent, as a Result.
template <class ObjectOf>
Status set_args(const Device& device, cl_kernel kernel, const KernelCall& call,
                const ObjectOf& object_of) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    const CallArg& arg = call.args[i];
    if (arg.kind == ArgKind::kInt) {
      CLVET_RETURN_IF_ERROR(set_arg(device, kernel, i, arg.int_value));
    } else if (arg.kind == ArgKind::kFloat) {
      CLVET_RETURN_IF_ERROR(set_arg(device, kernel, i, arg.float_value));
    } else if (arg.absent) {
      CLVET_RETURN_IF_ERROR(set_arg(device, kernel, i, cl_mem{}));
    } else {
      CLVET_ASSIGN_OR_RETURN(const cl_mem object, object_of(arg));
      CLVET_RETURN_IF_ERROR(set_arg(device, kernel, i, object));
    }
  }
  return {};
}

// Memory that holds `bytes`.
Result<ClMem> filled_buffer(Device& device, std::span<const std::byte> bytes);
Result<ClMem> filled_image(Device& device, const ImageExtent& extent, cl_channel_type type,
                           std::span<const std::byte> bytes);

}  // namespace clvet
