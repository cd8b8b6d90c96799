#include "runtime/run/language_session.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/device_decoder.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/language_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/token_feed.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/run/warn.h"

namespace clvet {
namespace {

// Logits of a model: finite, and not all alike (what a driver that computes nothing leaves).
std::string fault_of(std::span<const float> logits) {
  if (!std::all_of(logits.begin(), logits.end(), [](float v) { return std::isfinite(v); })) {
    return "values exceed the range of the precision (the logits are not finite)";
  }
  const auto [low, high] = std::minmax_element(logits.begin(), logits.end());
  return *low == *high ? "all logits are equal" : "";
}

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
  CLVET_ASSIGN_OR_RETURN(
      PlannedDevices found,
      plan_language_on(config_, weights_,
                       {*report, options_.device, options_.words, options_.model_key,
                        options_.plan ? &*options_.plan : nullptr}));
  for (PlannedDevice& place : found.rows) {
    const std::string name = place.device->name;
    const Status opened = open_device(std::move(place));
    if (opened) return {};
    found.reason = fmt::format("{}: {}", name, opened.error().message);
  }
  if (options_.strict) return refuse(found.reason);
  warn(fmt::format("the model runs on the host: {}", found.reason));
  return open_host();
}

Status LanguageSession::open_device(PlannedDevice place) {
  const DeviceReport& device = *place.device;
  feed_.reset();
  backend_.reset();
  CLVET_ASSIGN_OR_RETURN(device_, Device::open(device));
  CLVET_ASSIGN_OR_RETURN(auto decoder,
                         DeviceDecoder::create(*device_, config_, weights_, place.plan));
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
  for (const auto& [node, row] : decoder->launches()) {
    record_.nodes.push_back({.name = node,
                             .op = row->variant.manifest->op,
                             .kernel = row->name,
                             .variant_key = row->program->variant_key});
  }
  record_.device_bytes = static_cast<int64_t>(device_->allocated());
  used_ = &device;
  chooser_ = std::move(place.chooser);
  backend_ = std::move(decoder);
  feed_ = std::make_unique<TokenFeed>(*backend_, config_, weights_, kRowsOfAStep);
  return {};
}

Status LanguageSession::open_host() {
  CLVET_ASSIGN_OR_RETURN(backend_, HostDecoder::create(config_, weights_, kRowsOfAStep));
  used_ = nullptr;
  plan_ = {};
  record_.device = "host";
  record_.nodes.clear();
  record_.device_bytes = 0;
  record_.combination = {Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kBuffer};
  feed_ = std::make_unique<TokenFeed>(*backend_, config_, weights_, kRowsOfAStep);
  return {};
}

Status LanguageSession::step_down(const std::string& fault) {
  const std::string what = no_result(record_, fault);
  if (!used_) return fail(ErrorCode::kDeviceError, "{}", what);
  if (options_.strict) {
    return fail(ErrorCode::kUnavailable, "--strict forbids a fallback: {}", what);
  }
  if (record_.combination.precision != Precision::kHigh) {
    options_.words.precision = Precision::kHigh;
    auto plan = DecoderPlanner(config_, weights_, *chooser_).plan(options_.words);
    if (plan && open_device({used_, chooser_, std::move(*plan)})) {
      warn(fmt::format("{}; the tokens were computed again with {}", what,
                       to_string(record_.combination)));
      return {};
    }
  }
  warn(fmt::format("{}; the tokens were computed again on the host", what));
  return open_host();
}

Result<double> LanguageSession::device_ms_of_a_token(int32_t token) {
  if (!used_) return fail(ErrorCode::kUnsupported, "the CPU path uses no OpenCL device");
  CLVET_RETURN_IF_ERROR(device_->begin_timing());
  const auto logits = feed_->take(std::span(&token, 1), nullptr);
  CLVET_ASSIGN_OR_RETURN(const double ms, device_->end_timing());
  if (!logits) return tl::unexpected(logits.error());
  return ms;
}

void LanguageSession::restart() {
  taken_.clear();
  feed_->restart();
}

Result<std::vector<float>> LanguageSession::take(std::span<const int32_t> tokens,
                                                 const std::function<void(size_t)>& progress) {
  std::vector<int32_t> next(tokens.begin(), tokens.end());
  for (;;) {
    auto logits = feed_->take(next, progress);
    const bool ours = !logits && logits.error().code != ErrorCode::kDeviceError;
    if (ours) return tl::unexpected(logits.error());
    const std::string fault = logits ? fault_of(*logits) : logits.error().message;
    if (fault.empty()) {
      taken_.insert(taken_.end(), tokens.begin(), tokens.end());
      return logits;
    }
    CLVET_RETURN_IF_ERROR(step_down(fault));
    next = taken_;
    next.insert(next.end(), tokens.begin(), tokens.end());
  }
}

}  // namespace clvet
