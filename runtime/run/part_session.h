// A part of a network, or all of it, where it runs best, again and again, and elsewhere once it
// fails there. It plans for all types that follow from its inputs; where others follow from what it
// makes, it ends before them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/programs.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/cut.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/run/doubt.h"
#include "runtime/run/doubting_session.h"
#include "runtime/run/history.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/network_options.h"
#include "runtime/run/open_network.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"
#include "runtime/run/setbacks.h"

namespace clvet {

class PartSession final : public OpenNetwork {
 public:
  // `graph` as read from the file.
  static Result<std::unique_ptr<PartSession>> open(Graph graph, NetworkOptions options,
                                                   std::shared_ptr<Setbacks> setbacks);
  // What is left of a network.
  static std::unique_ptr<PartSession> of_rest(RestOfGraph rest, NetworkOptions options,
                                              std::shared_ptr<Setbacks> setbacks);

  // Makes ready for inputs of these shapes, where it is not: chooses the place and plans. Errors as
  // of run(), which does so first.
  Status prepare(const Inputs& inputs);
  // Whether there is nothing to do for that.
  bool is_ready_for(const Inputs& inputs) const;
  // What is to run on its outputs, once it is prepared; null: nothing. Another one whenever it was
  // prepared anew.
  std::shared_ptr<const RestOfGraph> rest() const { return rest_; }
  bool is_on_device() const { return choice_.device != nullptr; }

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
  const std::string& why_host() const { return choice_.reason; }
  // Says why the host alone computes, where a device was hoped for.
  void say_why_host();

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

  PartSession(RestOfGraph graph, bool is_rest, NetworkOptions options,
              std::shared_ptr<Setbacks> setbacks)
      : source_(std::move(graph.graph)),
        deciding_(std::move(graph.deciding)),
        is_rest_(is_rest),
        options_(std::move(options)),
        setbacks_(std::move(setbacks)) {}

  void warn(const std::string& text);
  // What can be planned now. A plan that was given, and the host, take all at once.
  Graph cut(Graph graph);
  // Whether another part of the network may be on a device.
  bool has_others() const { return is_rest_ || rest_; }
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
  Result<Outputs> on_host(const Inputs& inputs);
  Status step_down(const Error& error);
  void say_steps();

  const Graph source_;
  const std::set<std::string> deciding_;  // RestOfGraph has it
  const bool is_rest_;
  const NetworkOptions options_;
  const std::shared_ptr<Setbacks> setbacks_;
  RunRecord record_;
  // Of the inputs that all below is for.
  std::optional<Graph> graph_;
  std::shared_ptr<const RestOfGraph> rest_;
  std::map<std::string, TensorType> types_;
  NetworkPlan choice_;
  std::unique_ptr<Place, Place::Drop> place_;  // on the device, once it was opened
  std::optional<Session> host_;
  size_t places_ = 0;
  std::optional<Fault> fault_;           // of the last attempt
  std::shared_ptr<OpenedDevice> using_;  // the device that was asked last
};

}  // namespace clvet
