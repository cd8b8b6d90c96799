#include "runtime/run/host_first.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/doubt.h"
#include "runtime/run/network_options.h"
#include "runtime/run/network_session.h"
#include "runtime/run/open_network.h"
#include "runtime/run/profile.h"

namespace clvet {
namespace {

// Their user may write over the inputs once the host has answered.
Result<OpenNetwork::Inputs> copied(const OpenNetwork::Inputs& inputs) {
  OpenNetwork::Inputs copies;
  for (const auto& [name, tensor] : inputs) {
    CLVET_ASSIGN_OR_RETURN(Tensor copy, Tensor::create_unset(tensor.dtype(), tensor.shape()));
    if (copy.bytes() > 0) std::memcpy(copy.raw(), tensor.raw(), copy.bytes());
    copies.emplace(name, std::move(copy));
  }
  return copies;
}

}  // namespace

void HostFirst::Events::keep(bool kept) {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    kept_ = kept;
    events.swap(events_);
  }
  for (const Event& event : events) sink_(event);
}

void HostFirst::Events::operator()(const Event& event) {
  if (!sink_) return;
  {
    const std::lock_guard lock(mutex_);
    if (kept_) {
      if (event.level != EventLevel::kProgress) events_.push_back(event);
      return;
    }
  }
  sink_(event);
}

Result<std::unique_ptr<HostFirst>> HostFirst::open(Graph graph, Report report,
                                                   const NetworkOptions& options) {
  NetworkOptions on_host = options;
  on_host.device = "host";
  on_host.plan.reset();
  on_host.strict = false;
  CLVET_ASSIGN_OR_RETURN(auto host, NetworkSession::open(graph, nullptr, std::move(on_host)));
  auto events = std::make_shared<Events>(options.sink);
  NetworkOptions on_device = options;
  on_device.sink = [events](const Event& event) { (*events)(event); };
  on_device.compares_places = false;  // the host is busy
  auto own = std::make_unique<const Report>(std::move(report));
  CLVET_ASSIGN_OR_RETURN(auto device,
                         NetworkSession::open(std::move(graph), own.get(), std::move(on_device)));
  return std::unique_ptr<HostFirst>(
      new HostFirst(std::move(own), std::move(host), std::move(device), std::move(events)));
}

Status HostFirst::start(const Inputs& inputs) {
  CLVET_RETURN_IF_ERROR(device_->prepare(inputs));
  if (device_->is_for_host()) {
    ready_ = true;
    return {};
  }
  CLVET_ASSIGN_OR_RETURN(Inputs copies, copied(inputs));
  events_->keep(true);
  try {
    starting_ = std::async(std::launch::async, [this, copies = std::move(copies)]() -> Status {
      const auto outputs = device_->run(copies);
      return outputs ? Status() : Status(tl::unexpected(outputs.error()));
    });
  } catch (const std::system_error&) {
    // No thread is to be had: the device serves at once.
    events_->keep(false);
    ready_ = true;
  }
  return {};
}

Status HostFirst::take() {
  const Status done = starting_.get();
  events_->keep(false);
  ready_ = done.has_value();
  return done || done.error().code == ErrorCode::kCancelled ? Status() : done;
}

Status HostFirst::look(const Inputs& inputs) {
  if (ready_) return {};
  if (!starting_.valid()) return start(inputs);
  if (starting_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
  return take();
}

void HostFirst::wait() {
  if (starting_.valid()) static_cast<void>(take());
}

Result<Outputs> HostFirst::run(const Inputs& inputs) {
  CLVET_RETURN_IF_ERROR(look(inputs));
  return serving().run(inputs);
}

Result<Outputs> HostFirst::again(const Inputs& inputs, const Outputs& before) {
  const size_t where = place();
  CLVET_RETURN_IF_ERROR(look(inputs));
  return place() == where ? serving().again(inputs, before) : serving().run(inputs);
}

Result<Outputs> HostFirst::settled(const Inputs& inputs, Outputs last, const Outputs& first) {
  return serving().settled(inputs, std::move(last), first);
}

size_t HostFirst::place() const { return 2 * serving().place() + (ready_ ? 1 : 0); }

std::optional<Tensor> HostFirst::lend_input(const std::string& name) {
  return ready_ ? device_->lend_input(name) : std::nullopt;
}

Result<Profile> HostFirst::profile(const Inputs& inputs) {
  wait();
  return serving().profile(inputs);
}

void HostFirst::note() {
  if (ready_) device_->note();
}

void HostFirst::save_programs() {
  wait();
  if (!ready_) return;
  device_->note();
  device_->save_programs();
}

Result<std::unique_ptr<OpenNetwork>> open_network(Graph graph, const Report* report,
                                                  NetworkOptions options) {
  if (options.start == Start::kCpuFirst && report && options.device != "host")
    return HostFirst::open(std::move(graph), *report, options);
  return NetworkSession::open(std::move(graph), report, std::move(options));
}

}  // namespace clvet
