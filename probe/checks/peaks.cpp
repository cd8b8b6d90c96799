// The device's peaks: what its launches, transfers and memory cost. The worker's half; how many
// bytes and which of the groups is the supervisor's choice (probe/trial/peaks.cpp).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/result.h"
#include "probe/cl/handles.h"
#include "probe/process/spread_threads.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/drive.h"
#include "probe/worker/driver_session.h"
#include "probe/worker/protocol.h"

namespace clvet {
namespace {

constexpr size_t kSmallTransfer = 64, kSmallMap = 4096, kSmallStream = 1 << 20;
constexpr double kStreamPatience = 0.1;  // seconds that one launch of the large stream may take

// At least `least` samples, then until `most` of them or `seconds` have passed. The first few
// hundred waits for a CPU device differ from those that follow: it takes the system that long to
// stop sending idle cores to sleep.
struct Sampling {
  size_t least = 3, most = 600;
  double seconds = 0.03;
};

// Seconds of each `once`, after one that is not counted.
template <class Once>
Driven<std::vector<double>> sampled_seconds(const Sampling& sampling, const Once& once) {
  CLVET_DRIVE(once());
  std::vector<double> samples;
  const double until = monotonic_seconds() + sampling.seconds;
  while (samples.size() < sampling.least ||
         (samples.size() < sampling.most && monotonic_seconds() < until)) {
    const double started = monotonic_seconds();
    CLVET_DRIVE(once());
    samples.push_back(monotonic_seconds() - started);
  }
  return samples;
}

template <class Once>
Driven<double> median_seconds(const Sampling& sampling, const Once& once) {
  auto samples = sampled_seconds(sampling, once);
  if (!samples) return tl::unexpected(samples.error());
  return median(std::move(*samples));
}

// A request in hand, its answer, and the buffers that are released once it is done.
struct Bench {
  DriverSession& session;
  const nlohmann::json& request;
  nlohmann::json& reply;
  std::vector<ClMem> buffers;
};

// Bytes that no buffer holds by accident.
std::vector<unsigned char> pattern(size_t bytes) {
  std::vector<unsigned char> values(bytes);
  for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<unsigned char>(i * 13 + i / 241 + 5);
  return values;
}

Driven<cl_mem> create_buffer(Bench& bench, size_t bytes) {
  const DriverSession& session = bench.session;
  auto buffer =
      create_object<ClMem>(session.api(), Stage::kEnqueue, "clCreateBuffer", [&](cl_int* status) {
        return session.api().clCreateBuffer(session.context.get(), CL_MEM_READ_WRITE, bytes,
                                            nullptr, status);
      });
  if (!buffer) return tl::unexpected(buffer.error());
  bench.buffers.push_back(std::move(*buffer));
  return bench.buffers.back().get();
}

void release_buffers(Bench& bench) {
  const StageMarker marker(Stage::kRelease, "clReleaseMemObject");
  bench.buffers.clear();
}

DrivenStatus write(DriverSession& session, cl_mem buffer, size_t bytes, const void* from) {
  return run_call(Stage::kEnqueue, "clEnqueueWriteBuffer", [&] {
    return session.api().clEnqueueWriteBuffer(session.queue.get(), buffer, CL_TRUE, 0, bytes, from,
                                              0, nullptr, nullptr);
  });
}

DrivenStatus read(DriverSession& session, cl_mem buffer, size_t bytes, void* to) {
  return run_call(Stage::kRead, "clEnqueueReadBuffer", [&] {
    return session.api().clEnqueueReadBuffer(session.queue.get(), buffer, CL_TRUE, 0, bytes, to, 0,
                                             nullptr, nullptr);
  });
}

DrivenStatus time_launches(Bench& bench) {
  DriverSession& session = bench.session;
  CLVET_DRIVE(build_idle(session, bench.reply));
  const auto single = median_seconds({}, [&]() -> DrivenStatus {
    CLVET_DRIVE(enqueue_idle(session));
    return finish_queue(session);
  });
  if (!single) return tl::unexpected(single.error());
  bench.reply["launch_us"] = *single * 1e6;
  // A queue of slow launches need not be long.
  const double fit = std::clamp(0.01 / *single, 4.0, 32.0);
  const auto batch = static_cast<int>(fit);
  const auto piped = sampled_seconds({}, [&]() -> DrivenStatus {
    for (int i = 0; i < batch; ++i) CLVET_DRIVE(enqueue_idle(session));
    return finish_queue(session);
  });
  if (!piped) return tl::unexpected(piped.error());
  bench.reply["piped_launch_us"] = undisturbed(*piped) / batch * 1e6;
  return {};
}

DrivenStatus time_transfers(Bench& bench) {
  DriverSession& session = bench.session;
  const auto bytes = bench.request.at("bytes").get<size_t>();
  const std::vector<unsigned char> sent = pattern(bytes);
  std::vector<unsigned char> got(bytes);
  const auto buffer = create_buffer(bench, bytes);
  if (!buffer) return tl::unexpected(buffer.error());
  const auto writing = [&](size_t count) {
    return median_seconds({}, [&] { return write(session, *buffer, count, sent.data()); });
  };
  const auto reading = [&](size_t count) {
    return median_seconds({}, [&] { return read(session, *buffer, count, got.data()); });
  };
  const std::array times{writing(bytes), reading(bytes), writing(kSmallTransfer),
                         reading(kSmallTransfer)};
  for (const auto& time : times) CLVET_DRIVE(time);
  if (got != sent)
    return lied(Stage::kRead, "clEnqueueReadBuffer",
                "the data that was read differs from what was written");
  bench.reply["write_gbs"] = static_cast<double>(bytes) / *times[0] * 1e-9;
  bench.reply["read_gbs"] = static_cast<double>(bytes) / *times[1] * 1e-9;
  bench.reply["write_us"] = *times[2] * 1e6;
  bench.reply["read_us"] = *times[3] * 1e6;
  return {};
}

DrivenStatus time_maps(Bench& bench) {
  DriverSession& session = bench.session;
  const ClApi& api = session.api();
  const auto buffer = create_buffer(bench, kSmallMap);
  if (!buffer) return tl::unexpected(buffer.error());
  const auto time = median_seconds({}, [&]() -> DrivenStatus {
    void* mapped = nullptr;
    CLVET_DRIVE(run_call(Stage::kMap, "clEnqueueMapBuffer", [&] {
      cl_int status = CL_SUCCESS;
      mapped = api.clEnqueueMapBuffer(session.queue.get(), *buffer, CL_TRUE, CL_MAP_READ, 0,
                                      kSmallMap, 0, nullptr, nullptr, &status);
      return status;
    }));
    if (!mapped)
      return lied(Stage::kMap, "clEnqueueMapBuffer",
                  "clEnqueueMapBuffer returned success and a null pointer");
    CLVET_DRIVE(run_call(Stage::kMap, "clEnqueueUnmapMemObject", [&] {
      return api.clEnqueueUnmapMemObject(session.queue.get(), *buffer, mapped, 0, nullptr, nullptr);
    }));
    return finish_queue(session);
  });
  if (!time) return tl::unexpected(time.error());
  bench.reply["map_us"] = *time * 1e6;
  return {};
}

// One launch of the copy kernel, waited for.
DrivenStatus copy(DriverSession& session, cl_mem from, cl_mem to, size_t bytes) {
  cl_uint index = 0;
  for (const cl_mem buffer : {from, to}) {
    CLVET_DRIVE(run_call(Stage::kCreateKernel, "clSetKernelArg", [&] {
      return session.api().clSetKernelArg(session.built.kernel.get(), index++, sizeof buffer,
                                          &buffer);
    }));
  }
  const size_t items = bytes / sizeof(cl_float4);
  CLVET_DRIVE(enqueue_kernel(session, 1, &items, nullptr));
  return finish_queue(session);
}

// Seconds of a copy of `bytes`; with `check`, only if they arrive.
Driven<double> time_copy(Bench& bench, size_t bytes, const Sampling& sampling, bool check) {
  DriverSession& session = bench.session;
  const auto from = create_buffer(bench, bytes), to = create_buffer(bench, bytes);
  CLVET_DRIVE(from);
  CLVET_DRIVE(to);
  const auto sent = pattern(check ? bytes : 0);
  if (check) CLVET_DRIVE(write(session, *from, bytes, sent.data()));
  // Memory that was never written may not be there yet.
  if (!check) CLVET_DRIVE(copy(session, *to, *from, bytes));
  const auto time = median_seconds(sampling, [&] { return copy(session, *from, *to, bytes); });
  CLVET_DRIVE(time);
  auto got = std::vector<unsigned char>(sent.size());
  if (check) CLVET_DRIVE(read(session, *to, bytes, got.data()));
  if (got != sent)
    return lied(Stage::kRead, "clEnqueueReadBuffer", "the copy differs from the original");
  return *time;
}

// Grows the stream up to the bytes asked for, as long as the next launch will not take too long.
DrivenStatus time_stream(Bench& bench) {
  constexpr Sampling kOnce{1, 1, 0}, kLast{3, 8, 0.06};
  const auto most = std::max(bench.request.at("bytes").get<size_t>(), kSmallStream);
  CLVET_DRIVE(build_check(bench.session, "peaks", "clvet_peaks_stream", bench.reply));
  size_t bytes = kSmallStream;
  auto time = time_copy(bench, bytes, kOnce, true);
  CLVET_DRIVE(time);
  while (bytes < most && 4 * *time < kStreamPatience) {
    release_buffers(bench);
    bytes = std::min(4 * bytes, most);
    time = time_copy(bench, bytes, bytes == most ? kLast : kOnce, false);
    CLVET_DRIVE(time);
  }
  bench.reply["bandwidth_gbs"] = 2 * static_cast<double>(bytes) / *time * 1e-9;
  return {};
}

}  // namespace

Status handle_peaks(DriverSession& session, Message& message, nlohmann::json& reply) {
  const auto what = message.body.at("what").get<std::string>();
  const auto measure = what == "launches"    ? time_launches
                       : what == "transfers" ? time_transfers
                       : what == "maps"      ? time_maps
                                             : time_stream;
  Bench bench{session, message.body, reply, {}};
  const SpreadThreads spread(session.processor);
  const DrivenStatus status = measure(bench);
  release_buffers(bench);
  release_program(session);
  if (!status) tell_fault(status.error(), reply);
  return {};
}

}  // namespace clvet
