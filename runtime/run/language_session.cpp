#include "runtime/run/language_session.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/memory.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/device_decoder.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/programs.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/language_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/token_feed.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/run/doubt.h"
#include "runtime/run/doubting_decoder.h"
#include "runtime/run/history.h"
#include "runtime/run/ladder.h"
#include "runtime/run/warn.h"

namespace clvet {
namespace {

// Matrices of the host, at most twice as many bytes as the device's, may take half of the memory.
constexpr uint64_t kRoomForWitness = 4;

std::string no_result(const LanguageRecord& record, const std::string& fault) {
  return fmt::format("the combination {} gave no usable result on {}: {}",
                     to_string(record.combination), record.device, fault);
}

tl::unexpected<Error> refuse(const std::string& reason) {
  return fail(ErrorCode::kUnavailable, "--strict: no device can run the model ({})", reason);
}

std::string describe(const RefusedCombination& first, const ExecutionPlan& plan) {
  return fmt::format(
      "the combination {} is not used ({}); each token reads {:.2g} times as many bytes without it",
      to_string(first.combination), first.reason, plan.bytes / std::max(1.0, first.bytes));
}

}  // namespace

Result<std::unique_ptr<LanguageSession>> LanguageSession::open(const GgufFile& file,
                                                               const LlmConfig& config,
                                                               const Report* report,
                                                               LanguageOptions options) {
  const double started = monotonic_seconds();
  std::unique_ptr<LanguageSession> session(new LanguageSession(file, config, std::move(options)));
  CLVET_RETURN_IF_ERROR(session->open_somewhere(report));
  session->record_.load_ms = ms_since(started);
  return session;
}

void LanguageSession::warn(const std::string& text) {
  clvet::warn(options_.sink, record_.warnings, text);
}

Status LanguageSession::open_somewhere(const Report* report) {
  if (!report && options_.device != "host" && options_.strict) return refuse("there is no report");
  if (options_.device == "host" || !report) return open_host();
  ladder_.emplace(history_, report, options_.words, options_.model_key);
  const Status opened = open_planned();
  if (opened || !cannot_run_here(opened.error().code)) return opened;
  if (options_.strict) return refuse(opened.error().message);
  warn(fmt::format("the model runs on the host: {}", opened.error().message));
  return open_host();
}

Status LanguageSession::open_planned() {
  const ExecutionPlan* given = options_.plan && !ladder_->stepped() ? &*options_.plan : nullptr;
  PlanOverrides& words = ladder_->words();
  if (given && !takes_residual_scale(config_, given->residual_scale)) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan scales the residual stream by {}, which this model does not allow",
                given->residual_scale);
  }
  if (given) config_.residual_scale = given->residual_scale;
  CLVET_ASSIGN_OR_RETURN(
      PlannedDevices found,
      plan_language_on(config_, weights_,
                       {*ladder_->report(), options_.device, words, options_.model_key, given}));
  for (PlannedDevice& place : found.rows) {
    const std::string name = place.device->name;
    if (!given && take_found(place.device->environment_key, words)) return open_planned();
    const Status opened = open_device(std::move(place));
    if (opened) return {};
    found.reason = fmt::format("{}: {}", name, opened.error().message);
  }
  return fail(ErrorCode::kUnavailable, "{}", found.reason);
}

bool LanguageSession::take_found(const std::string& environment_key, PlanOverrides& words) {
  if (config_.residual_scale != 1) return false;
  const auto found = history_.known_precision(options_.model_key, environment_key, words.precision);
  if (!found || !takes_residual_scale(config_, found->residual_scale)) return false;
  words.precision = found->precision;
  config_.residual_scale = found->residual_scale;
  return true;
}

LanguageSession::Opened::~Opened() {
  if (!place) return;
  const std::lock_guard turn(*place->turn);
  decoder.reset();
}

Status LanguageSession::open_device(PlannedDevice place) {
  feed_.reset();
  const bool known = history_.rhythm(History::key_of(place.plan) + " 1 answer").has_value();
  opened_.push_back(std::make_unique<Opened>());
  Opened& opened = *opened_.back();
  std::optional<Fault> fault;
  CLVET_ASSIGN_OR_RETURN(opened.place,
                         options_.devices->open(*place.device, history_, known, fault));
  const std::lock_guard turn(*opened.place->turn);
  return make_decoder(std::move(place), opened);
}

Status LanguageSession::make_decoder(PlannedDevice place, Opened& opened) {
  const DeviceReport& device = *place.device;
  Device& open = *opened.place->device;
  const size_t before = open.allocated();
  CLVET_ASSIGN_OR_RETURN(auto decoder, DeviceDecoder::create(open, config_, weights_, place.plan));
  plan_ = std::move(place.plan);
  record_.avoided = avoided_by(plan_);
  if (!record_.avoided.empty()) warn(describe(record_.avoided.front(), plan_));
  if (const int parts = decoder->head_parts(); parts > 1 && options_.sink) {
    options_.sink(
        {EventLevel::kInfo,
         fmt::format("the output head of {} rows is too large for one image of this device; it "
                     "is split across {} images",
                     config_.vocab, parts)});
  }
  record_.device = device.name;
  record_.combination = plan_.combination;
  record_.nodes.clear();
  const size_t allocated = open.allocated() - before;
  record_.device_bytes = static_cast<int64_t>(allocated);
  used_ = &device;
  const bool room = memory_available() / kRoomForWitness > allocated;
  CLVET_ASSIGN_OR_RETURN(auto witness, HostDecoder::witness(config_, weights_, kRowsOfAStep, room));
  opened.decoder = std::make_unique<DoubtingDecoder>(open, std::move(decoder), std::move(witness),
                                                     history_, plan_, options_.self_check);
  on_device_ = opened.decoder.get();
  tell_greedy(open);
  feed_ = std::make_unique<TokenFeed>(*on_device_, config_, weights_, kRowsOfAStep);
  feed_->set_cancel(options_.cancelled.get());
  return {};
}

Status LanguageSession::open_host() {
  CLVET_ASSIGN_OR_RETURN(host_, HostDecoder::create(config_, weights_, kRowsOfAStep));
  used_ = nullptr;
  on_device_ = nullptr;
  plan_ = {};
  record_.device = "host";
  record_.nodes.clear();
  record_.device_bytes = 0;
  record_.combination = {Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kBuffer};
  feed_ = std::make_unique<TokenFeed>(*host_, config_, weights_, kRowsOfAStep);
  feed_->set_cancel(options_.cancelled.get());
  return {};
}

// Where programs came of saved binaries, those are at fault first: the same place, compiled.
bool LanguageSession::leave_binaries(const std::string& evidence) {
  if (!on_device_ || !on_device_->fault()) return false;
  const std::shared_ptr<OpenedDevice> place = opened_.back()->place;
  if (!place || !options_.devices->forget_binaries(place, evidence)) return false;
  say_notes(*place);
  return open_planned().has_value();
}

Status LanguageSession::step_down(const std::string& evidence) {
  if (leave_binaries(evidence)) return {};
  if (!used_) return fail(ErrorCode::kDeviceError, "{}", no_result(record_, evidence));
  if (options_.strict) {
    return fail(ErrorCode::kUnavailable, "--strict forbids a fallback: {}",
                no_result(record_, evidence));
  }
  options_.devices->forget(opened_.back()->place);
  const auto warn_now = [this](const std::string& text) { warn(text); };
  bool left = false;
  if (on_device_->fault()) {
    left = ladder_->step_down(*used_, record_.combination, *on_device_->fault(), warn_now);
  } else {
    ladder_->give_up(record_.device, evidence);
  }
  if (left && open_planned()) return {};
  return open_host();
}

void LanguageSession::expect_greedy(bool greedy) {
  greedy_ = greedy;
  if (!on_device_) return;
  OpenedDevice& place = *opened_.back()->place;
  const std::lock_guard turn(*place.turn);
  tell_greedy(*place.device);
}

void LanguageSession::tell_greedy(Device& device) {
  const size_t before = device.allocated();
  if (const Status told = on_device_->expect_greedy(greedy_); !told) {
    warn(fmt::format("{} does not choose tokens by itself: {}", record_.device,
                     told.error().message));
  }
  record_.device_bytes += static_cast<int64_t>(device.allocated() - before);
  const auto& launches = on_device_->decoder().launches();
  for (size_t i = record_.nodes.size(); i < launches.size(); ++i) {
    const auto& [node, row] = launches[i];
    record_.nodes.push_back({.name = node,
                             .op = row->variant.manifest->op,
                             .kernel = row->name,
                             .variant_key = row->program->variant_key});
  }
}

Result<double> LanguageSession::device_ms_of_a_token(int32_t token) {
  if (!used_) return fail(ErrorCode::kUnsupported, "the CPU path uses no OpenCL device");
  OpenedDevice& place = *opened_.back()->place;
  const std::lock_guard turn(*place.turn);
  Device& device = *place.device;
  CLVET_RETURN_IF_ERROR(device.begin_timing());
  on_device_->set_checking(false);
  const auto logits = feed_->take(std::span(&token, 1), nullptr);
  on_device_->set_checking(true);
  CLVET_ASSIGN_OR_RETURN(const double ms, device.end_timing());
  if (!logits) return tl::unexpected(logits.error());
  return ms;
}

void LanguageSession::say_steps() {
  if (!ladder_) return;
  const std::string text = ladder_->said(used_ ? std::optional(record_.combination) : std::nullopt);
  if (!text.empty()) warn(text);
}

void LanguageSession::note() {
  if (!on_device_) return;
  on_device_->note();
  if (on_device_->every() == 0) return;
  OpenedDevice& place = *opened_.back()->place;
  const std::lock_guard turn(*place.turn);
  place.device->programs().save();
  say_notes(place);
}

void LanguageSession::say_notes(OpenedDevice& place) {
  for (const std::string& text : place.device->programs().take_notes()) warn(text);
}

void LanguageSession::restart() {
  taken_.clear();
  feed_->restart();
}

Result<std::span<const float>> LanguageSession::take_now(
    std::span<const int32_t> tokens, const std::function<void(size_t)>& progress) {
  std::unique_lock<std::mutex> turn;
  if (used_) turn = std::unique_lock(*opened_.back()->place->turn);
  return feed_->take(tokens, progress);
}

Result<std::span<const float>> LanguageSession::take(std::span<const int32_t> tokens,
                                                     const std::function<void(size_t)>& progress) {
  std::vector<int32_t> next(tokens.begin(), tokens.end());
  for (;;) {
    auto logits = take_now(next, progress);
    const bool looked_at = logits && on_device_ && !on_device_->odd();
    const std::string fault = !logits     ? logits.error().message
                              : looked_at ? std::string()
                                          : suspicion_of(*logits);
    if (fault.empty()) {
      say_steps();
      if (used_) say_notes(*opened_.back()->place);
      record_.checked_every = on_device_ ? on_device_->every() : 0;
      taken_.insert(taken_.end(), tokens.begin(), tokens.end());
      return logits;
    }
    if (!logits && logits.error().code != ErrorCode::kDeviceError) return logits;
    CLVET_RETURN_IF_ERROR(step_down(fault));
    next = taken_;
    next.insert(next.end(), tokens.begin(), tokens.end());
  }
}

}  // namespace clvet
