#include "runtime/run/run_model.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/numbers.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"

#include "runtime/exec/device.h"
#include "runtime/exec/flight.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/doubt.h"
#include "runtime/run/doubting_session.h"
#include "runtime/run/history.h"
#include "runtime/run/ladder.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/run_record.h"
#include "runtime/run/warn.h"

namespace clvet {
namespace {

void describe_plan(const ExecutionPlan& plan, RunRecord& record) {
  record.combination = plan.combination;
  record.refused = plan.refused;
  record.nodes.clear();
  const PlanPhase& phase = plan.phases.front();
  const std::vector<std::string> variants = variants_of(phase);
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const PlannedNode& node = phase.nodes[i];
    record.nodes.push_back({node.name, node.op,
                            node.place == Place::kHost ? Place::kHost : Place::kDevice, variants[i],
                            variant_key_of(variants[i]), node.reason, 0, node.ms});
  }
  record.fallbacks.insert(record.fallbacks.end(), plan.fallbacks.begin(), plan.fallbacks.end());
}

// Each node's time over a few runs, in the way that its device's report has launches.
Status time_nodes(Session& session, const std::map<std::string, Tensor>& inputs, bool on_processor,
                  RunRecord& record) {
  constexpr size_t kMostRuns = 9;
  constexpr double kPatience = 0.5;  // seconds
  std::vector<std::vector<double>> samples(record.nodes.size());
  const double until = monotonic_seconds() + kPatience;
  for (size_t run = 0; run == 0 || (run < kMostRuns && monotonic_seconds() < until); ++run) {
    NodeTimes times{.piped = on_processor};
    CLVET_ASSIGN_OR_RETURN(const auto outputs, session.run(inputs, &times));
    for (size_t i = 0; i < samples.size(); ++i) samples[i].push_back(times.ms.at(i));
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    record.nodes[i].ms = on_processor ? undisturbed(samples[i]) : median(std::move(samples[i]));
  }
  return {};
}

// A first answer, or another one to the same inputs.
using Answer = std::function<Result<Outputs>(const Outputs* before)>;

Result<Outputs> timed_answers(const Answer& answer, const ModelRunOptions& options,
                              RunRecord& record) {
  double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(Outputs outputs, answer(nullptr));
  record.first_ms = ms_since(started);
  std::vector<double> samples;
  for (int i = 0; i < options.repeat && !(options.stop && options.stop()); ++i) {
    if (options.sink && options.repeat > 1)
      options.sink({EventLevel::kProgress, "timed runs", i, options.repeat});
    started = monotonic_seconds();
    CLVET_ASSIGN_OR_RETURN(outputs, answer(&outputs));
    samples.push_back(ms_since(started));
  }
  record.samples_ms = samples;
  if (!samples.empty()) {
    record.min_ms = *std::min_element(samples.begin(), samples.end());
    record.median_ms = median(std::move(samples));
  }
  return outputs;
}

// A device with a plan on it. A driver that failed is not asked to clean up.
struct Opened {
  std::string key;                    // of the plan
  std::optional<CheckRhythm> rhythm;  // that earlier starts left
  Flight flight;
  std::unique_ptr<Device> device;
  std::optional<Session> session;
};

// One run: the choice of a place, and what is recorded of it.
class Runner {
 public:
  Runner(const Graph& graph, const std::map<std::string, Tensor>& inputs,
         const ModelRunOptions& options, RunRecord& record)
      : graph_(graph),
        inputs_(inputs),
        options_(options),
        record_(record),
        history_(options.state_dir) {}

  Status plan(const Report* report);
  Result<Outputs> run();
  std::vector<std::shared_ptr<void>> opened() { return std::move(opened_); }

 private:
  void warn(const std::string& text) { clvet::warn(options_.sink, record_.warnings, text); }
  Status make_plan();
  bool take_found(const std::string& environment_key, PlanOverrides& words) const;
  Status refuse_fallback() const;
  void warn_of_plan();
  bool may_compare() const;
  std::string times_file() const { return options_.state_dir + "/times.json"; }
  std::string times_key() const;
  void prefer_host(const MeasuredTimes& times);
  Result<MeasuredTimes> measure_both(Session& on_device) const;
  void take_host(const std::string& why);
  Result<Outputs> run_on_device();
  Result<Outputs> repeated(DoubtingSession& session);
  Result<Outputs> answers_of(Opened& place);
  Result<Outputs> run_on_host();
  void describe();
  void say_steps();
  Status step_down(const Error& error);

  const Graph& graph_;
  const std::map<std::string, Tensor>& inputs_;
  const ModelRunOptions& options_;
  RunRecord& record_;
  const History history_;
  std::optional<Ladder> ladder_;  // once there is a plan
  NetworkPlan choice_;
  std::optional<Fault> fault_;  // of the last attempt
  std::vector<std::shared_ptr<void>> opened_;
};

Status Runner::make_plan() {
  const ExecutionPlan* given = options_.plan && !ladder_->stepped() ? &*options_.plan : nullptr;
  PlanOverrides& words = ladder_->words();
  const NetworkPlanRequest request{ladder_->report(), options_.device, words, options_.model_key,
                                   given};
  CLVET_ASSIGN_OR_RETURN(choice_, plan_network_on(graph_, request));
  if (!choice_.device || given || !take_found(choice_.device->environment_key, words)) return {};
  return make_plan();
}

// Words for what is known of the model's precision on that device. False: they are as they were.
bool Runner::take_found(const std::string& environment_key, PlanOverrides& words) const {
  if (!words.raised.empty()) return false;
  const auto found = history_.known_precision(options_.model_key, environment_key, words.precision);
  if (!found) return false;
  words.precision = found->precision;
  words.raised = found->raised;
  return true;
}

Status Runner::plan(const Report* report) {
  ladder_.emplace(history_, report, options_.overrides, options_.model_key);
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(make_plan());
  record_.plan_ms = ms_since(started);
  CLVET_RETURN_IF_ERROR(refuse_fallback());
  describe();
  if (choice_.device) record_.not_best = why_not_best(*choice_.device, choice_.plan);
  warn_of_plan();
  if (!may_compare()) return {};
  if (const auto times = MeasuredTimesFile(times_file()).find(times_key())) prefer_host(*times);
  return {};
}

Status Runner::refuse_fallback() const {
  if (!options_.strict) return {};
  if (!choice_.device && options_.device != "host") {
    return fail(ErrorCode::kUnavailable, "--strict: no device can run the model ({})",
                choice_.reason);
  }
  if (choice_.plan.fallbacks.empty()) return {};
  const Fallback& first = choice_.plan.fallbacks.front();
  return fail(ErrorCode::kUnavailable, "--strict: node '{}' needs a fallback from {} to {} ({})",
              first.node, first.from, first.to, first.verdict);
}

void Runner::describe() {
  record_.fallbacks.clear();
  describe_plan(choice_.plan, record_);
  record_.device = choice_.device ? choice_.device->name : "host";
}

void Runner::warn_of_plan() {
  if (options_.overrides.memory == Memory::kLow)
    warn("memory low changes nothing: the model's weights are not quantised");
  if (choice_.plan.fallbacks.empty()) return;
  const Fallback& first = choice_.plan.fallbacks.front();
  warn(
      fmt::format("{} nodes avoid kernels that are not correct here; the first: node '{}' uses {} "
                  "instead of {} ({})",
                  choice_.plan.fallbacks.size(), first.node, first.to, first.from, first.verdict));
}

// Whether host and device are to be compared: the caller set no device, combination or plan.
bool Runner::may_compare() const {
  const PlanOverrides& words = options_.overrides;
  return choice_.device && !options_.plan && options_.device == "auto" &&
         !options_.state_dir.empty() && !options_.strict && !words.precision && !words.memory &&
         !words.activations && !words.weights;
}

std::string Runner::times_key() const {
  std::string shapes;
  for (const auto& [name, tensor] : inputs_)
    shapes += fmt::format(" {}={}", name, to_string(tensor.type()));
  return fmt::format("{} {} {}{}", options_.model_key.substr(0, 16),
                     choice_.device->environment_key.substr(0, 16),
                     to_string(choice_.plan.combination), shapes);
}

// From now on the host's, for the reason `why`.
void Runner::take_host(const std::string& why) {
  choice_.reason = why;
  choice_.device = nullptr;
  choice_.plan = plan_on_host(graph_, why);
  describe();
}

// Takes the host where that was measured to be faster.
void Runner::prefer_host(const MeasuredTimes& times) {
  record_.choice = times;
  if (!times.host_wins()) return;
  take_host(fmt::format("the host is faster: {:.3g} ms instead of {:.3g} ms on {}", times.host_ms,
                        times.device_ms, choice_.device->name));
}

// The medians of warm runs in turn. The host's are given up once it is behind.
Result<MeasuredTimes> Runner::measure_both(Session& on_device) const {
  CLVET_ASSIGN_OR_RETURN(Session on_host,
                         Session::create(graph_, plan_on_host(graph_, "measured"), nullptr));
  constexpr int kSamples = 3;
  std::vector<double> device_ms, host_ms;
  for (int i = 0; i <= kSamples; ++i) {
    const bool warms_up = i == 0;
    double started = monotonic_seconds();
    CLVET_RETURN_IF_ERROR(on_device.run(inputs_));
    device_ms.push_back(ms_since(started));
    const double patience = (warms_up ? 4 : 1.5) * median(device_ms);
    started = monotonic_seconds();
    const auto ran = on_host.run(inputs_, nullptr, started + patience * 1e-3);
    const double took = ms_since(started);
    if (!ran && ran.error().code == ErrorCode::kDeadlineExceeded)
      return MeasuredTimes{median(device_ms), took};
    if (!ran) return tl::unexpected(ran.error());
    if (!warms_up) host_ms.push_back(took);
  }
  return MeasuredTimes{median(device_ms), median(host_ms)};
}

Result<Outputs> Runner::run_on_device() {
  const double started = monotonic_seconds();
  const std::string key = History::key_of(choice_.plan);
  const auto rhythm = history_.rhythm(key);
  auto place = std::make_shared<Opened>(Opened{key, rhythm, history_.flight(!rhythm), {}, {}});
  opened_.push_back(place);
  fault_.reset();
  const auto open = [&]() -> Status {
    CLVET_ASSIGN_OR_RETURN(place->device, Device::open(*choice_.device, place->flight));
    CLVET_ASSIGN_OR_RETURN(place->session,
                           Session::create(graph_, choice_.plan, place->device.get()));
    return {};
  };
  if (const Status opened = open(); !opened) {
    if (opened.error().code == ErrorCode::kDeviceError)
      fault_ = fault_of(place->flight.read(), opened.error());
    return tl::unexpected(opened.error());
  }
  record_.build_ms = place->device->build_ms();
  record_.load_ms += ms_since(started) - record_.build_ms;
  return answers_of(*place);
}

// As many answers as were asked for. The last one, which leaves, agrees with the first.
Result<Outputs> Runner::repeated(DoubtingSession& session) {
  Outputs first;
  const auto answer = [&](const Outputs* before) -> Result<Outputs> {
    if (before) return session.again(inputs_, *before);
    CLVET_ASSIGN_OR_RETURN(first, session.run(inputs_));
    return first;
  };
  CLVET_ASSIGN_OR_RETURN(Outputs last, timed_answers(answer, options_, record_));
  CLVET_RETURN_IF_ERROR(session.compare_repeats(inputs_, last, first));
  return last;
}

// Takes the host for the next runs where it turned out to be faster.
Result<Outputs> Runner::answers_of(Opened& place) {
  DoubtingSession session(*place.session, *place.device, place.rhythm, options_.self_check);
  const auto outputs = repeated(session);
  if (!outputs) {
    fault_ = session.fault();
    if (fault_ && session.unchecked() > 0)
      warn(fmt::format("{} earlier answers of this model were not checked and may be wrong",
                       session.unchecked()));
    return outputs;
  }
  record_.checked_every = session.rhythm().every;
  if (options_.node_times) {
    CLVET_RETURN_IF_ERROR(
        time_nodes(*place.session, inputs_, is_processor(*choice_.device), record_));
  }
  if (const auto kept =
          history_.keep({{place.key, session.rhythm()}}, choice_.device->environment_key);
      !kept)
    warn(fmt::format("it could not be noted that the host confirms the results: {}",
                     kept.error().message));
  if (!may_compare() || record_.choice) return outputs;
  CLVET_ASSIGN_OR_RETURN(const MeasuredTimes times, measure_both(*place.session));
  if (const auto kept = MeasuredTimesFile(times_file()).keep(times_key(), times); !kept)
    warn(fmt::format("the measured times could not be saved; the next run measures them again: {}",
                     kept.error().message));
  prefer_host(times);
  return outputs;
}

Result<Outputs> Runner::run_on_host() {
  CLVET_ASSIGN_OR_RETURN(Session session,
                         Session::create(graph_, std::move(choice_.plan), nullptr));
  CLVET_ASSIGN_OR_RETURN(
      auto outputs,
      timed_answers([&](const Outputs*) { return session.run(inputs_); }, options_, record_));
  if (options_.node_times) CLVET_RETURN_IF_ERROR(time_nodes(session, inputs_, false, record_));
  return outputs;
}

// The next rung of the ladder.
Status Runner::step_down(const Error& error) {
  if (options_.strict)
    return fail(ErrorCode::kUnavailable, "--strict: the device failed: {}", error.message);
  const auto warn_now = [this](const std::string& text) { warn(text); };
  bool left = false;
  if (fault_) {
    left = ladder_->step_down(*choice_.device, choice_.plan.combination, *fault_, warn_now);
  } else {
    ladder_->give_up(record_.device, error.message);
  }
  if (!left || !make_plan()) take_host(error.message);
  describe();
  return {};
}

void Runner::say_steps() {
  const bool here = choice_.device != nullptr;
  const std::string text =
      ladder_->said(here ? std::optional(choice_.plan.combination) : std::nullopt);
  if (text.empty()) return;
  warn(text);
  record_.fallbacks.insert(record_.fallbacks.begin(), ladder_->steps().begin(),
                           ladder_->steps().end());
}

Result<Outputs> Runner::run() {
  while (choice_.device) {
    auto outputs = run_on_device();
    if (!outputs) {
      CLVET_RETURN_IF_ERROR(step_down(outputs.error()));
      continue;
    }
    say_steps();
    if (choice_.device) return outputs;
  }
  if (ladder_->stepped()) say_steps();
  if (options_.device != "host" && !record_.choice && !ladder_->stepped())
    warn(fmt::format("the model runs on the host: {}", choice_.reason));
  return run_on_host();
}

}  // namespace

Result<ModelRun> run_model(Graph graph, const std::map<std::string, Tensor>& inputs,
                           const Report* report, const ModelRunOptions& options) {
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(check_inputs(graph, inputs));
  CLVET_RETURN_IF_ERROR(optimise(graph));
  CLVET_ASSIGN_OR_RETURN(graph, specialise(graph, shapes_of(inputs), inputs));
  ModelRun result;
  result.record.load_ms = ms_since(started);
  Runner runner(graph, inputs, options, result.record);
  CLVET_RETURN_IF_ERROR(runner.plan(report));
  CLVET_ASSIGN_OR_RETURN(result.outputs, runner.run());
  result.opened = runner.opened();
  return result;
}

}  // namespace clvet
