// A network where it runs best, again and again, and elsewhere once it fails there.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/programs.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/run/device_pool.h"
#include "runtime/run/doubt.h"
#include "runtime/run/doubting_session.h"
#include "runtime/run/history.h"
#include "runtime/run/ladder.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/open_network.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"

namespace clvet {

// Who answers while a device is made ready: nobody, so that all answers are the device's, or the
// host.
enum class Start { kDevice, kCpuFirst };

struct NetworkOptions {
  std::string device = "auto";  // "auto", "host" or a selector of the report's devices
  PlanOverrides overrides;
  bool strict = false;           // no fallback
  Start start = Start::kDevice;  // of open_network()
  // Executes this plan (checked for this model and device) and does not plan anew.
  std::optional<ExecutionPlan> plan;
  // With device "auto" and no word of a combination given: a model's first run on a device is timed
  // against the host, the figures are kept in `state_dir` under `model_key`, and the faster one
  // serves. What is found out in use is kept there, too. Empty: nothing is kept, and the device
  // serves.
  std::string state_dir;
  bool compares_places = true;  // false: figures that were kept count, but nothing is timed
  std::string model_key;        // as read_keyed_onnx() gives it
  // The part of the answers that the host computes as well; empty: as many as take a fiftieth of
  // the time. The first one of a plan in an environment always is.
  std::optional<double> self_check;
  EventSink sink;
  // Where devices are opened; null: in a pool of the session's own.
  std::shared_ptr<DevicePool> devices;
  // Programs are saved before the second inference, and not by save_programs() alone: who has many
  // inferences may never come to an end of its own.
  bool saves_early = false;
  // While it is true, a run ends with kCancelled before its next step.
  std::shared_ptr<const std::atomic<bool>> cancelled;
};

class NetworkSession final : public OpenNetwork {
 public:
  // `graph` as read from the file; `report` may be null for the host, and must outlive it.
  static Result<std::unique_ptr<NetworkSession>> open(Graph graph, const Report* report,
                                                      NetworkOptions options);

  // Makes ready for inputs of these shapes, where it is not: chooses the place and plans. Errors as
  // of run(), which prepares first.
  Status prepare(const Inputs& inputs);
  // The host answers next, as planned.
  bool on_host() const { return !choice_.device; }

  Result<Outputs> run(const Inputs& inputs) override;
  Result<Outputs> again(const Inputs& inputs, const Outputs& before) override;
  Result<Outputs> settled(const Inputs& inputs, Outputs last, const Outputs& first) override;
  size_t place() const override { return places_; }
  std::optional<Tensor> lend_input(const std::string& name) override;
  Status time_nodes(const Inputs& inputs) override;
  Result<Profile> profile(const Inputs& inputs) override;
  void note() override;
  void save_programs() override;
  const RunRecord& record() const override { return record_; }
  const Graph& graph() const override { return source_; }

 private:
  // Of a plan, ready to run.
  struct Place {
    std::string key;  // of the plan, and of the binaries that its programs came of
    std::shared_ptr<OpenedDevice> opened;
    Session session;
    std::optional<DoubtingSession> doubting = {};
    std::optional<CheckRhythm> noted = {};
    bool answered = false;
    // At its turn on the device.
    struct Drop {
      void operator()(Place* place) const;
    };
  };
  using Ask = std::function<Result<Outputs>(DoubtingSession& session)>;

  NetworkSession(Graph source, NetworkOptions options)
      : source_(std::move(source)), options_(std::move(options)), history_(options_.state_dir) {
    if (!options_.devices) options_.devices = std::make_shared<DevicePool>();
  }

  void warn(const std::string& text);
  bool is_ready_for(const Inputs& inputs) const;
  Status plan(const Inputs& inputs);
  Status make_plan();
  // Words for what is known of the model's precision on that device. False: they are as they were.
  bool take_found(const std::string& environment_key, PlanOverrides& words) const;
  Status refuse_fallback() const;
  void warn_of_plan();
  void describe();

  // Whether host and device are to be compared: the caller set no device, combination or plan.
  bool may_compare() const;
  std::string times_file() const { return options_.state_dir + "/times.json"; }
  std::string times_key() const;
  void prefer_host(const MeasuredTimes& times);
  Result<MeasuredTimes> measure_both(const Inputs& inputs);
  Status compare_places(const Inputs& inputs);
  void take_host(std::string why);
  void leave_device();

  Status open_place(std::string key, std::shared_ptr<OpenedDevice> opened);
  bool leave_binaries(const Error& error);
  void say_notes(Programs& programs);
  Result<Outputs> ask_place(const Inputs& inputs, const Ask& ask);
  Result<Outputs> answer(const Inputs& inputs, const Ask& ask);
  Result<Outputs> on_device(const Inputs& inputs, const Ask& ask);
  Result<Outputs> answer_of_host(const Inputs& inputs);
  Status step_down(const Error& error);
  void say_steps();

  const Graph source_;
  NetworkOptions options_;
  RunRecord record_;
  const History history_;
  std::optional<Ladder> ladder_;
  bool given_up_ = false;  // no device is asked any more
  // Of the inputs that all below is for.
  std::optional<Graph> graph_;
  std::map<std::string, TensorType> types_;
  NetworkPlan choice_;
  std::unique_ptr<Place, Place::Drop> place_;  // on the device, once it was opened
  std::optional<Session> host_;
  size_t places_ = 0;
  std::optional<Fault> fault_;               // of the last attempt
  std::shared_ptr<OpenedDevice> using_;      // the device that was asked last
  std::vector<std::shared_ptr<void>> left_;  // devices, and places on them
};

}  // namespace clvet
