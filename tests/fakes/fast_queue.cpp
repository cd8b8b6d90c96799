// Queues, events and the running of kernels of the built-in device.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/fakes/device_info.h"
#include "tests/fakes/dispatch.h"
#include "tests/fakes/fast_objects.h"

namespace fake_cl {

cl_int complete(cl_command_queue queue, cl_command_type type, cl_event* out) {
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  if (!out) return CL_SUCCESS;
  auto* event = new _cl_event;
  event->context = queue->context;
  event->queue = queue;
  event->type = type;
  const cl_ulong now = nanoseconds();
  for (int i = 0; i < 4; ++i) event->times[i] = now + static_cast<cl_ulong>(i) * 1000;
  *out = event;
  return CL_SUCCESS;
}

namespace {

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* code) {
  if (!context) return created<_cl_command_queue>(nullptr, CL_INVALID_CONTEXT, code);
  if (device != g_fast_device) return created<_cl_command_queue>(nullptr, CL_INVALID_DEVICE, code);
  auto* queue = new _cl_command_queue;
  queue->context = context;
  queue->properties = properties;
  return created(queue, CL_SUCCESS, code);
}

cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device,
                                               const cl_queue_properties* properties,
                                               cl_int* code) {
  cl_command_queue_properties bits = 0;
  for (; properties && *properties; properties += 2) {
    if (properties[0] == CL_QUEUE_PROPERTIES) bits = properties[1];
  }
  return create_queue(context, device, bits, code);
}

cl_int CL_API_CALL retain_queue(cl_command_queue q) { return retain(q, CL_INVALID_COMMAND_QUEUE); }
cl_int CL_API_CALL release_queue(cl_command_queue q) {
  return release(q, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL queue_info(cl_command_queue q, cl_command_queue_info param, size_t size,
                              void* value, size_t* size_ret) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  switch (param) {
    case CL_QUEUE_CONTEXT:
      return answer(raw(q->context), size, value, size_ret);
    case CL_QUEUE_DEVICE:
      return answer(raw(g_fast_device), size, value, size_ret);
    case CL_QUEUE_REFERENCE_COUNT:
      return answer(raw(count_of(*q)), size, value, size_ret);
    case CL_QUEUE_PROPERTIES:
      return answer(raw(q->properties), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL flush(cl_command_queue q) { return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }

cl_mem buffer_argument(cl_kernel kernel, cl_uint index) {
  const auto it = kernel->args.find(index);
  if (it == kernel->args.end() || it->second.size() != sizeof(cl_mem)) return nullptr;
  cl_mem mem = nullptr;
  std::memcpy(&mem, it->second.data(), sizeof mem);
  return mem;
}

// The one kernel that this device really runs: y[i] = 3 * x[i] + 1.
void run_canary(cl_kernel kernel, size_t offset, size_t global) {
  cl_mem x = buffer_argument(kernel, 0), y = buffer_argument(kernel, 1);
  if (!x || !y || !x->data || !y->data) return;
  const size_t end = std::min({offset + global, x->size / 4, y->size / 4});
  for (size_t i = offset; i < end; ++i) {
    cl_uint value = 0;
    std::memcpy(&value, x->data + 4 * i, 4);
    value = 3 * value + 1;
    std::memcpy(y->data + 4 * i, &value, 4);
  }
}

cl_int CL_API_CALL run_kernel(cl_command_queue q, cl_kernel kernel, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint, const cl_event*, cl_event* event) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (!kernel) return CL_INVALID_KERNEL;
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (!global) return CL_INVALID_GLOBAL_WORK_SIZE;
  size_t group = 1;
  for (cl_uint i = 0; local && i < dimensions; ++i) group *= local[i];
  if (group == 0 || group > 512) return CL_INVALID_WORK_GROUP_SIZE;
  if (kernel->name == "clvet_canary") run_canary(kernel, offset ? offset[0] : 0, global[0]);
  return complete(q, CL_COMMAND_NDRANGE_KERNEL, event);
}

cl_int CL_API_CALL run_task(cl_command_queue q, cl_kernel kernel, cl_uint n, const cl_event* events,
                            cl_event* event) {
  const size_t one = 1;
  return run_kernel(q, kernel, 1, nullptr, &one, &one, n, events, event);
}

cl_int CL_API_CALL marker_list(cl_command_queue q, cl_uint, const cl_event*, cl_event* event) {
  return complete(q, CL_COMMAND_MARKER, event);
}
cl_int CL_API_CALL marker(cl_command_queue q, cl_event* event) {
  return complete(q, CL_COMMAND_MARKER, event);
}
cl_int CL_API_CALL barrier_list(cl_command_queue q, cl_uint, const cl_event*, cl_event* event) {
  return complete(q, CL_COMMAND_BARRIER, event);
}

cl_int CL_API_CALL wait_for(cl_uint count, const cl_event* events) {
  if (count == 0 || !events) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (!events[i]) return CL_INVALID_EVENT;
    while (events[i]->status > CL_COMPLETE)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (events[i]->status < 0) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  return CL_SUCCESS;
}

cl_int CL_API_CALL event_info(cl_event e, cl_event_info param, size_t size, void* value,
                              size_t* size_ret) {
  if (!e) return CL_INVALID_EVENT;
  switch (param) {
    case CL_EVENT_COMMAND_QUEUE:
      return answer(raw(e->queue), size, value, size_ret);
    case CL_EVENT_CONTEXT:
      return answer(raw(e->context), size, value, size_ret);
    case CL_EVENT_COMMAND_TYPE:
      return answer(raw(e->type), size, value, size_ret);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      return answer(raw<cl_int>(e->status), size, value, size_ret);
    case CL_EVENT_REFERENCE_COUNT:
      return answer(raw(count_of(*e)), size, value, size_ret);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL profiling_info(cl_event e, cl_profiling_info param, size_t size, void* value,
                                  size_t* size_ret) {
  if (!e) return CL_INVALID_EVENT;
  if (!e->queue || !(e->queue->properties & CL_QUEUE_PROFILING_ENABLE)) {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  }
  if (param == CL_PROFILING_COMMAND_COMPLETE)
    return answer(raw(e->times[3]), size, value, size_ret);
  if (param < CL_PROFILING_COMMAND_QUEUED || param > CL_PROFILING_COMMAND_END)
    return CL_INVALID_VALUE;
  return answer(raw(e->times[param - CL_PROFILING_COMMAND_QUEUED]), size, value, size_ret);
}

cl_int CL_API_CALL retain_event(cl_event e) { return retain(e, CL_INVALID_EVENT); }
cl_int CL_API_CALL release_event(cl_event e) {
  const cl_int result = release(e, CL_INVALID_EVENT);
  if (result == CL_SUCCESS && e->references == 0) delete e;
  return result;
}

cl_event CL_API_CALL user_event(cl_context context, cl_int* code) {
  auto* event = new _cl_event;
  event->context = context;
  event->type = CL_COMMAND_USER;
  event->status = CL_SUBMITTED;
  return created(event, CL_SUCCESS, code);
}

cl_int CL_API_CALL set_user_status(cl_event e, cl_int status) {
  if (!e) return CL_INVALID_EVENT;
  e->status = status;
  return CL_SUCCESS;
}

cl_int CL_API_CALL set_callback(cl_event e, cl_int,
                                void(CL_CALLBACK* notify)(cl_event, cl_int, void*), void* user) {
  if (!e || !notify) return CL_INVALID_VALUE;
  notify(e, e->status, user);
  return CL_SUCCESS;
}

}  // namespace

void install_fast_queues(Table& table) {
  set<Fn::clCreateCommandQueue>(table, create_queue);
  set<Fn::clCreateCommandQueueWithProperties>(table, create_queue_with);
  set<Fn::clRetainCommandQueue>(table, retain_queue);
  set<Fn::clReleaseCommandQueue>(table, release_queue);
  set<Fn::clGetCommandQueueInfo>(table, queue_info);
  set<Fn::clFlush>(table, flush);
  set<Fn::clFinish>(table, flush);
  set<Fn::clEnqueueBarrier>(table, flush);
  set<Fn::clEnqueueNDRangeKernel>(table, run_kernel);
  set<Fn::clEnqueueTask>(table, run_task);
  set<Fn::clEnqueueMarkerWithWaitList>(table, marker_list);
  set<Fn::clEnqueueMarker>(table, marker);
  set<Fn::clEnqueueBarrierWithWaitList>(table, barrier_list);
  set<Fn::clWaitForEvents>(table, wait_for);
  set<Fn::clGetEventInfo>(table, event_info);
  set<Fn::clGetEventProfilingInfo>(table, profiling_info);
  set<Fn::clRetainEvent>(table, retain_event);
  set<Fn::clReleaseEvent>(table, release_event);
  set<Fn::clCreateUserEvent>(table, user_event);
  set<Fn::clSetUserEventStatus>(table, set_user_status);
  set<Fn::clSetEventCallback>(table, set_callback);
}

}  // namespace fake_cl
