// A network that the host answers while its device is opened, its programs are built and its first
// answer is confirmed, in a thread of its own.
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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
#include "runtime/run/run_record.h"

namespace clvet {

class HostFirst final : public OpenNetwork {
 public:
  static Result<std::unique_ptr<HostFirst>> open(Graph graph, Report report,
                                                 const NetworkOptions& options);

  Result<Outputs> run(const Inputs& inputs) override;
  Result<Outputs> again(const Inputs& inputs, const Outputs& before) override;
  Result<Outputs> settled(const Inputs& inputs, Outputs last, const Outputs& first) override;
  size_t place() const override;
  std::optional<Tensor> lend_input(const std::string& name) override;
  Status time_nodes(const Inputs& inputs) override { return serving().time_nodes(inputs); }
  // Of the device, once it is ready: waits for it.
  Result<Profile> profile(const Inputs& inputs) override;
  void note() override;
  void save_programs() override;  // waits for the device
  const RunRecord& record() const override { return serving().record(); }
  const Graph& graph() const override { return host_->graph(); }

 private:
  // Keeps the events of the device's thread, until the thread that asks for answers tells them.
  class Events {
   public:
    explicit Events(EventSink sink) : sink_(std::move(sink)) {}
    void keep(bool kept);
    void operator()(const Event& event);

   private:
    EventSink sink_;
    std::mutex mutex_;
    bool kept_ = false;
    std::vector<Event> events_;
  };

  HostFirst(std::unique_ptr<const Report> report, std::unique_ptr<NetworkSession> host,
            std::unique_ptr<NetworkSession> device, std::shared_ptr<Events> events)
      : report_(std::move(report)),
        host_(std::move(host)),
        device_(std::move(device)),
        events_(std::move(events)) {}

  NetworkSession& serving() const { return ready_ ? *device_ : *host_; }
  // Has the device serve where it is ready, and starts it where nobody has.
  Status look(const Inputs& inputs);
  Status start(const Inputs& inputs);
  // What came of the thread. kCancelled: the device is to be started again.
  Status take();
  void wait();

  // Its own: the caller may be done with the answer, and with the report, while the thread works.
  const std::unique_ptr<const Report> report_;
  const std::unique_ptr<NetworkSession> host_, device_;
  const std::shared_ptr<Events> events_;
  bool ready_ = false;
  std::future<Status> starting_;  // the last member: its thread ends before the others are gone
};

}  // namespace clvet
