// The queues of a device beside the one that everything is asked of.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "base/result.h"
#include "probe/cl/handles.h"
#include "probe/report/report.h"
#include "runtime/exec/cl_status.h"
#include "runtime/exec/device.h"
#include "runtime/exec/flight.h"

namespace clvet {

Result<ClEvent> Device::read_beside(cl_mem buffer, std::span<std::byte> bytes,
                                    const ClEvent& after) {
  if (!beside_queue_) {
    CLVET_ASSIGN_OR_RETURN(beside_queue_, make_queue(0));
  }
  const InDriver calls(flight_, Stage::kRead);
  // Without it the other queue may wait for what was never begun.
  CLVET_RETURN_IF_ERROR(cl_status(api().clFlush(queue_.get()), "clFlush"));
  cl_event event = nullptr;
  const cl_int code =
      api().clEnqueueReadBuffer(beside_queue_.get(), buffer, CL_FALSE, 0, bytes.size(),
                                bytes.data(), 1, after.address(), &event);
  CLVET_ASSIGN_OR_RETURN(ClEvent read, checked(ClEvent(api(), event), code, "clEnqueueReadBuffer"));
  const Status flushed = cl_status(api().clFlush(beside_queue_.get()), "clFlush");
  if (flushed) return read;
  (void)api().clWaitForEvents(1, read.address());  // the bytes may go away once it has come
  return tl::unexpected(flushed.error());
}

Status Device::wait_for(const ClEvent& event) {
  const InDriver calls(flight_, Stage::kRead);
  CLVET_RETURN_IF_ERROR(cl_status(api().clWaitForEvents(1, event.address()), "clWaitForEvents"));
  written();
  return {};
}

Device::HostMemory Device::host_memory(size_t bytes) {
  HostMemory memory;
  if (maps_.pins) {
    auto made = make_pinned(bytes);
    maps_.pins = made.has_value();
    if (made) memory.pinned_ = std::make_unique<Pinned>(std::move(*made));
  }
  if (!memory.pinned_) memory.own_.resize(bytes);
  return memory;
}

Status Device::begin_timing() {
  if (!api().clGetEventProfilingInfo) {
    return fail(ErrorCode::kUnsupported, "the driver has no clGetEventProfilingInfo");
  }
  CLVET_RETURN_IF_ERROR(finish());
  CLVET_ASSIGN_OR_RETURN(ClQueue timed, make_queue(CL_QUEUE_PROFILING_ENABLE));
  untimed_queue_ = std::exchange(queue_, std::move(timed));
  timing_ = true;
  return {};
}

Result<double> Device::end_timing() {
  const Status finished = finish();
  spent_queues_.push_back(std::exchange(queue_, std::move(untimed_queue_)));
  timing_ = false;
  const size_t first = spent_events_.size();
  std::move(launches_.begin(), launches_.end(), std::back_inserter(spent_events_));
  launches_.clear();
  CLVET_RETURN_IF_ERROR(finished);
  double sum = 0;
  for (size_t i = first; i < spent_events_.size(); ++i) {
    const ClEvent& launch = spent_events_[i];
    cl_ulong start = 0, end = 0;
    for (const auto& [what, value] :
         {std::pair{CL_PROFILING_COMMAND_START, &start}, {CL_PROFILING_COMMAND_END, &end}}) {
      CLVET_RETURN_IF_ERROR(cl_status(
          api().clGetEventProfilingInfo(launch.get(), static_cast<cl_profiling_info>(what),
                                        sizeof *value, value, nullptr),
          "clGetEventProfilingInfo"));
    }
    if (end > start) sum += static_cast<double>(end - start);
  }
  if (sum == 0)
    return fail(
        ErrorCode::kUnsupported,
        "the driver reports no time for any command: its start and end are always the same");
  return sum * 1e-6;
}

}  // namespace clvet
