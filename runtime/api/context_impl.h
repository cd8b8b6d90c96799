// What is behind a context: the report that sessions go by, and its devices.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/event.h"
#include "base/result.h"
#include "clvet/context.h"
#include "clvet/result.h"
#include "probe/report/report.h"
#include "runtime/api/own_process.h"
#include "runtime/run/device_pool.h"

namespace clvet::v1 {

class ContextImpl {
 public:
  static ::clvet::Result<std::shared_ptr<ContextImpl>> open(const ContextOptions& options);

  const OwnProcess& process() const { return process_; }
  // Null: there is none, for the reason that why_not() tells.
  const ::clvet::Report* report() const { return report_ ? &*report_ : nullptr; }
  const std::string& why_not() const { return why_not_; }
  const std::string& state_dir() const { return state_dir_; }
  const std::shared_ptr<DevicePool>& devices() const { return devices_; }

 private:
  ContextImpl() = default;
  const OwnProcess process_;
  std::string state_dir_, why_not_;
  std::optional<::clvet::Report> report_;
  const std::shared_ptr<DevicePool> devices_ = std::make_shared<DevicePool>();
};

// The way into a Context for those that open sessions.
class ContextAccess {
 public:
  static const std::shared_ptr<ContextImpl>& of(const Context& context) { return context.impl_; }
};

// The context that `options` (of a session or a language model) names, or one of its own.
template <class Options>
::clvet::Result<std::shared_ptr<ContextImpl>> context_for(const Options& options) {
  if (!options.context) return ContextImpl::open({options.report, options.state_dir});
  if (!options.report.empty() || !options.state_dir.empty()) {
    return fail(
        ::clvet::ErrorCode::kInvalidArgument,
        "the context has a report and a state folder: leave `report` and `state_dir` empty");
  }
  const auto& shared = ContextAccess::of(*options.context);
  if (const Status own = shared->process().check("context"); !own)
    return fail(::clvet::ErrorCode::kUnavailable, "{}", own.error().message);
  return shared;
}

// What sessions and language models are opened with alike, in `words` (NetworkOptions or
// LanguageOptions, whose sink is set). Gives the context; null: the host alone computes.
template <class Options, class Words>
::clvet::Result<std::shared_ptr<ContextImpl>> take_options(const Options& options, Words& words) {
  words.device = options.device;
  words.strict = options.strict;
  if (options.device == "host") return nullptr;
  CLVET_ASSIGN_OR_RETURN(auto context, context_for(options));
  words.state_dir = context->state_dir();
  words.devices = context->devices();
  if (!context->report()) words.sink({EventLevel::kWarning, context->why_not()});
  return context;
}

}  // namespace clvet::v1
