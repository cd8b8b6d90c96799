#include "runtime/run/part_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/programs.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/cut.h"
#include "runtime/infer/infer.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/doubt.h"
#include "runtime/run/doubting_session.h"
#include "runtime/run/history.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/network_options.h"
#include "runtime/run/node_times.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"
#include "runtime/run/setbacks.h"
#include "runtime/run/warn.h"

namespace clvet {
namespace {

std::map<std::string, TensorType> types_of(const PartSession::Inputs& inputs) {
  std::map<std::string, TensorType> types;
  for (const auto& [name, tensor] : inputs) types.emplace(name, tensor.type());
  return types;
}

}  // namespace

Result<std::unique_ptr<PartSession>> PartSession::open(Graph graph, NetworkOptions options,
                                                       std::shared_ptr<Setbacks> setbacks) {
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(optimise(graph));
  std::unique_ptr<PartSession> session(
      new PartSession({std::move(graph), {}}, false, std::move(options), std::move(setbacks)));
  session->record_.load_ms = ms_since(started);
  return session;
}

std::unique_ptr<PartSession> PartSession::of_rest(RestOfGraph rest, NetworkOptions options,
                                                  std::shared_ptr<Setbacks> setbacks) {
  return std::unique_ptr<PartSession>(
      new PartSession(std::move(rest), true, std::move(options), std::move(setbacks)));
}

// Once: what is planned anew for other shapes says the same again.
void PartSession::warn(const std::string& text) {
  if (std::ranges::find(setbacks_->warnings, text) != setbacks_->warnings.end()) return;
  setbacks_->warnings.push_back(text);
  clvet::warn(options_.sink, record_.warnings, text);
}

bool PartSession::is_ready_for(const Inputs& inputs) const {
  if (!graph_ || types_ != types_of(inputs)) return false;
  return std::ranges::all_of(graph_->given, [&](const auto& given) {
    return bitwise_equal(given.second, inputs.at(given.first));
  });
}

Status PartSession::prepare(const Inputs& inputs) {
  if (is_ready_for(inputs)) return {};
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(check_inputs(source_, inputs));
  CLVET_ASSIGN_OR_RETURN(Graph graph, specialise(source_, shapes_of(inputs), inputs, deciding_));
  CLVET_RETURN_IF_ERROR(optimise(graph));
  place_.reset();
  host_.reset();
  graph_ = cut(std::move(graph));
  types_.clear();
  record_.load_ms += ms_since(started);
  CLVET_RETURN_IF_ERROR(plan(inputs));
  types_ = types_of(inputs);
  return {};
}

Graph PartSession::cut(Graph graph) {
  rest_.reset();
  const bool plans = setbacks_->ladder.report() && options_.device != "host" && !options_.plan;
  if (!plans || setbacks_->given_up) return graph;
  auto parts = cut_at_unknown_shapes(graph);
  if (!parts) return graph;
  rest_ = std::make_shared<const RestOfGraph>(std::move(parts->rest));
  return std::move(parts->before);
}

Status PartSession::plan(const Inputs& inputs) {
  ++places_;
  record_.choice.reset();
  record_.not_best.clear();
  if (setbacks_->given_up) {
    take_host(*setbacks_->given_up);
    return {};
  }
  types_ = types_of(inputs);
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(make_plan());
  record_.plan_ms += ms_since(started);
  CLVET_RETURN_IF_ERROR(refuse_fallback());
  describe();
  if (choice_.device) record_.not_best = why_not_best(*choice_.device, choice_.plan);
  warn_of_plan();
  if (!may_compare()) return {};
  if (const auto times = MeasuredTimesFile(times_file()).find(times_key())) prefer_host(*times);
  return {};
}

Status PartSession::make_plan() {
  const ExecutionPlan* given =
      options_.plan && !setbacks_->ladder.stepped() ? &*options_.plan : nullptr;
  PlanOverrides& words = setbacks_->ladder.words();
  const NetworkPlanRequest request{setbacks_->ladder.report(), options_.device, words,
                                   options_.model_key, given};
  CLVET_ASSIGN_OR_RETURN(choice_, plan_network_on(*graph_, request));
  if (!choice_.device || given || !take_found(choice_.device->environment_key, words)) return {};
  return make_plan();
}

bool PartSession::take_found(const std::string& environment_key, PlanOverrides& words) const {
  if (!words.raised.empty()) return false;
  const auto found =
      setbacks_->history.known_precision(options_.model_key, environment_key, words.precision);
  if (!found) return false;
  words.precision = found->precision;
  words.raised = found->raised;
  return true;
}

Status PartSession::refuse_fallback() const {
  if (!options_.strict) return {};
  if (!choice_.device && options_.device != "host" && !has_others()) {
    return fail(ErrorCode::kUnavailable, "--strict: no device can run the model ({})",
                choice_.reason);
  }
  if (choice_.plan.fallbacks.empty()) return {};
  const Fallback& first = choice_.plan.fallbacks.front();
  return fail(ErrorCode::kUnavailable, "--strict: node '{}' needs a fallback from {} to {} ({})",
              first.node, first.from, first.to, first.verdict);
}

void PartSession::describe() {
  describe_plan(choice_.plan, record_);
  record_.device = choice_.device ? choice_.device->name : "host";
}

void PartSession::warn_of_plan() {
  if (options_.overrides.memory == Memory::kLow &&
      choice_.plan.combination.memory != Memory::kLow) {
    warn("memory low changes nothing: no kernel here reads weights of the model as int8");
  }
  if (choice_.plan.fallbacks.empty()) return;
  const Fallback& first = choice_.plan.fallbacks.front();
  warn(
      fmt::format("{} nodes avoid kernels that are not correct here; the first: node '{}' uses {} "
                  "instead of {} ({})",
                  choice_.plan.fallbacks.size(), first.node, first.to, first.from, first.verdict));
}

// From now on the host's, for the reason `why`.
void PartSession::take_host(std::string why) {
  ++places_;
  choice_.device = nullptr;
  choice_.plan = plan_on_host(*graph_, why);
  choice_.graph = *graph_;
  choice_.reason = std::move(why);
  describe();
}

// A driver may die where it releases something: what was opened stays.
void PartSession::leave_device() {
  if (place_) setbacks_->left.push_back(std::move(place_));
}

void PartSession::Place::Drop::operator()(Place* place) const {
  const std::shared_ptr<OpenedDevice> opened = place->opened;
  const std::lock_guard turn(*opened->turn);
  delete place;
}

Status PartSession::open_place(std::string key, std::shared_ptr<OpenedDevice> opened) {
  const double started = monotonic_seconds();
  const double built_before = opened->device->build_ms();
  Programs& programs = opened->device->programs();
  programs.begin_use();
  auto session = Session::create(choice_.graph, choice_.plan, opened->device.get());
  key += programs.used_binaries();
  say_notes(programs);
  if (!session) {
    if (session.error().code == ErrorCode::kDeviceError)
      fault_ = fault_of(opened->flight.read(), session.error());
    return tl::unexpected(session.error());
  }
  const double build_ms = opened->device->build_ms() - built_before;
  place_.reset(new Place{std::move(key), std::move(opened), std::move(*session)});
  place_->session.set_cancel(options_.cancelled.get());
  place_->doubting.emplace(place_->session, *place_->opened->device,
                           setbacks_->history.rhythm(place_->key), options_.self_check);
  record_.programs = {programs.compiled(), programs.loaded()};
  record_.build_ms += build_ms;
  record_.load_ms += ms_since(started) - build_ms;
  return {};
}

Result<Outputs> PartSession::on_device(const Inputs& inputs, const Ask& ask) {
  fault_.reset();
  if (place_) {
    if (options_.saves_early) save_programs();
    const std::lock_guard turn(*place_->opened->turn);
    return ask_place(inputs, ask);
  }
  std::string key = History::key_of(choice_.plan);
  const bool confirmed = setbacks_->history.rhythm(key).has_value();
  CLVET_ASSIGN_OR_RETURN(
      using_, options_.devices->open(*choice_.device, setbacks_->history, confirmed, fault_));
  const std::lock_guard turn(*using_->turn);
  CLVET_RETURN_IF_ERROR(open_place(std::move(key), using_));
  return ask_place(inputs, ask);
}

Result<Outputs> PartSession::ask_place(const Inputs& inputs, const Ask& ask) {
  DoubtingSession& doubting = *place_->doubting;
  const double started = monotonic_seconds();
  auto outputs = ask(doubting);
  const double ms = ms_since(started);
  if (!outputs) {
    fault_ = doubting.fault();
    if (fault_ && doubting.unchecked() > 0)
      warn(fmt::format("{} earlier answers of this model were not checked and may be wrong",
                       doubting.unchecked()));
    return outputs;
  }
  record_.checked_every = doubting.rhythm().every;
  if (place_->answered) return outputs;
  place_->answered = true;
  record_.first_ms = ms;
  note();
  CLVET_RETURN_IF_ERROR(compare_places(inputs));
  return outputs;
}

void PartSession::say_why_host() {
  if (options_.device == "host" || record_.choice || setbacks_->ladder.stepped()) return;
  warn(fmt::format("the model runs on the host: {}",
                   choice_.reason.empty() ? "no report names a device" : choice_.reason));
}

Result<Outputs> PartSession::on_host(const Inputs& inputs) {
  if (!has_others()) say_why_host();
  const bool is_first = !host_;
  if (is_first) {
    CLVET_ASSIGN_OR_RETURN(host_, Session::create(choice_.graph, choice_.plan, nullptr));
    host_->set_cancel(options_.cancelled.get());
  }
  const double started = monotonic_seconds();
  CLVET_ASSIGN_OR_RETURN(Outputs outputs, host_->run(inputs));
  if (is_first) record_.first_ms = ms_since(started);
  return outputs;
}

// Where programs came of saved binaries, those are at fault first: the same place, compiled.
bool PartSession::leave_binaries(const Error& error) {
  if (!fault_ || !using_ || !options_.devices->forget_binaries(using_, error.message)) return false;
  say_notes(using_->device->programs());
  leave_device();
  setbacks_->left.push_back(std::move(using_));
  ++places_;
  return true;
}

// The next rung of the ladder.
Status PartSession::step_down(const Error& error) {
  if (leave_binaries(error)) return {};
  if (options_.strict)
    return fail(ErrorCode::kUnavailable, "--strict: the device failed: {}", error.message);
  leave_device();
  if (using_) {
    options_.devices->forget(using_);
    setbacks_->left.push_back(std::move(using_));
  }
  ++places_;
  const auto warn_now = [this](const std::string& text) { warn(text); };
  bool left = false;
  if (fault_) {
    left =
        setbacks_->ladder.step_down(*choice_.device, choice_.plan.combination, *fault_, warn_now);
  } else {
    setbacks_->ladder.give_up(record_.device, error.message);
  }
  if (!left || !make_plan()) {
    setbacks_->given_up = error.message;
    take_host(error.message);
  }
  describe();
  return {};
}

void PartSession::say_steps() {
  const bool here = choice_.device != nullptr;
  const std::string text =
      setbacks_->ladder.said(here ? std::optional(choice_.plan.combination) : std::nullopt);
  if (text.empty()) return;
  warn(text);
  record_.fallbacks.insert(record_.fallbacks.begin(), setbacks_->ladder.steps().begin(),
                           setbacks_->ladder.steps().end());
}

// What `ask` gives where the network is; after a fault, an answer of the next place.
Result<Outputs> PartSession::answer(const Inputs& inputs, const Ask& ask) {
  CLVET_RETURN_IF_ERROR(prepare(inputs));
  const Ask anew = [&](DoubtingSession& session) { return session.run(inputs); };
  for (bool is_first = true; choice_.device; is_first = false) {
    auto outputs = on_device(inputs, is_first ? ask : anew);
    if (!outputs) {
      if (outputs.error().code == ErrorCode::kCancelled) return outputs;
      CLVET_RETURN_IF_ERROR(step_down(outputs.error()));
      continue;
    }
    say_steps();
    if (choice_.device) return outputs;
  }
  if (setbacks_->ladder.stepped()) say_steps();
  return on_host(inputs);
}

Result<Outputs> PartSession::run(const Inputs& inputs) {
  return answer(inputs, [&](DoubtingSession& session) { return session.run(inputs); });
}

Result<Outputs> PartSession::again(const Inputs& inputs, const Outputs& before) {
  return answer(inputs, [&](DoubtingSession& session) { return session.again(inputs, before); });
}

Result<Outputs> PartSession::settled(const Inputs& inputs, Outputs last, const Outputs& first) {
  if (!choice_.device) return last;
  return answer(inputs, [&](DoubtingSession& session) -> Result<Outputs> {
    CLVET_RETURN_IF_ERROR(session.compare_repeats(inputs, last, first));
    return last;
  });
}

std::optional<Tensor> PartSession::lend_input(const std::string& name) {
  if (!choice_.device || !place_ || !place_->answered) return std::nullopt;
  const std::lock_guard turn(*place_->opened->turn);
  auto lent = place_->session.lend_input(name);
  if (lent) return *lent;
  warn(fmt::format("input '{}' is not shared with {}: {}", name, record_.device,
                   lent.error().message));
  return std::nullopt;
}

Status PartSession::time_nodes(const Inputs& inputs) {
  CLVET_RETURN_IF_ERROR(prepare(inputs));
  if (!choice_.device) return host_ ? clvet::time_nodes(*host_, inputs, false, record_) : Status();
  if (!place_) return {};
  const std::lock_guard turn(*place_->opened->turn);
  return clvet::time_nodes(place_->session, inputs, is_processor(*choice_.device), record_);
}

Result<Profile> PartSession::profile(const Inputs& inputs) {
  CLVET_RETURN_IF_ERROR(prepare(inputs));
  if (!choice_.device && host_) return profile_of(*host_, inputs, false, {});
  if (!place_ || !choice_.device || !setbacks_->ladder.report())
    return fail(ErrorCode::kUnavailable, "nothing has answered that could be timed");
  CLVET_ASSIGN_OR_RETURN(const auto table, VariantTable::embedded());
  const DeviceEvidence evidence = evidence_of(*setbacks_->ladder.report(), *choice_.device, *table);
  const std::lock_guard turn(*place_->opened->turn);
  return profile_of(place_->session, inputs, is_processor(*choice_.device), evidence.cost);
}

void PartSession::save_programs() {
  if (!place_ || !place_->answered || !place_->doubting->confirmed()) return;
  const std::lock_guard turn(*place_->opened->turn);
  Programs& programs = place_->opened->device->programs();
  programs.save();
  say_notes(programs);
}

void PartSession::say_notes(Programs& programs) {
  for (const std::string& text : programs.take_notes()) warn(text);
}

void PartSession::note() {
  if (!place_ || !place_->doubting->confirmed()) return;
  const CheckRhythm& rhythm = place_->doubting->rhythm();
  if (place_->noted == rhythm) return;
  place_->noted = rhythm;
  const auto kept =
      setbacks_->history.keep({{place_->key, rhythm}}, choice_.device->environment_key);
  if (!kept)
    warn(fmt::format("it could not be noted that the host confirms the results: {}",
                     kept.error().message));
}

}  // namespace clvet
