#include "runtime/run/network_session.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/cut.h"
#include "runtime/run/device_pool.h"
#include "runtime/run/doubt.h"
#include "runtime/run/joined_record.h"
#include "runtime/run/network_options.h"
#include "runtime/run/part_session.h"
#include "runtime/run/profile.h"
#include "runtime/run/rest_sessions.h"
#include "runtime/run/run_record.h"
#include "runtime/run/setbacks.h"

namespace clvet {
namespace {

// By name the values `ids`, from where they are.
Outputs gathered(const Graph& graph, const std::vector<ValueId>& ids, const Outputs& here,
                 const Outputs& elsewhere) {
  Outputs values;
  for (const ValueId id : ids) {
    const std::string& name = graph.values[static_cast<size_t>(id)].name;
    const auto found = here.find(name);
    values[name] = found == here.end() ? elsewhere.at(name) : found->second;
  }
  return values;
}

}  // namespace

Result<std::unique_ptr<NetworkSession>> NetworkSession::open(Graph graph, const Report* report,
                                                             NetworkOptions options) {
  if (!options.devices) options.devices = std::make_shared<DevicePool>();
  auto setbacks = std::make_shared<Setbacks>(report, options);
  CLVET_ASSIGN_OR_RETURN(auto first, PartSession::open(std::move(graph), options, setbacks));
  return std::unique_ptr<NetworkSession>(
      new NetworkSession(std::move(first), std::move(options), std::move(setbacks), false));
}

std::unique_ptr<NetworkSession> NetworkSession::of_rest(RestOfGraph rest,
                                                        const NetworkOptions& options,
                                                        std::shared_ptr<Setbacks> setbacks) {
  auto first = PartSession::of_rest(std::move(rest), options, setbacks);
  return std::unique_ptr<NetworkSession>(
      new NetworkSession(std::move(first), options, std::move(setbacks), true));
}

Result<Outputs> NetworkSession::complete(const Inputs& inputs, Outputs made,
                                         Result<Outputs> (RestSessions::*ask)(const Inputs&)) {
  record_.reset();
  if (const auto rest = first_->rest(); rest.get() != (rest_ ? &rest_->rest() : nullptr))
    rest_ = rest ? std::make_unique<RestSessions>(rest, options_, setbacks_) : nullptr;
  if (!rest_) {
    note_place();
    return made;
  }
  const Graph& rest = rest_->rest().graph;
  const Inputs given = gathered(rest, rest.inputs, made, inputs);
  CLVET_ASSIGN_OR_RETURN(const Outputs ended, ((*rest_).*ask)(given));
  Outputs outputs = gathered(graph(), graph().outputs, ended, made);
  last_ = std::move(made);
  note_place();
  CLVET_RETURN_IF_ERROR(check_place());
  return outputs;
}

void NetworkSession::note_place() {
  const std::pair now(first_->place(), rest_ ? rest_->place() : 0);
  if (places_ > 0 && place_ == now) return;
  place_ = now;
  ++places_;
  earlier_ = last_;
}

bool NetworkSession::is_on_device() const {
  return first_->is_on_device() || (rest_ && rest_->is_on_device());
}

Status NetworkSession::check_place() {
  if (is_rest_ || is_on_device()) return {};
  if (options_.strict)
    return fail(ErrorCode::kUnavailable, "--strict: no device can run the model ({})",
                first_->why_host());
  if (!first_->record().choice && !rest_->record().choice) first_->say_why_host();
  return {};
}

Result<Outputs> NetworkSession::run(const Inputs& inputs) {
  CLVET_ASSIGN_OR_RETURN(Outputs made, first_->run(inputs));
  return complete(inputs, std::move(made), &RestSessions::run);
}

Result<Outputs> NetworkSession::again(const Inputs& inputs, const Outputs& before) {
  CLVET_ASSIGN_OR_RETURN(Outputs made, first_->again(inputs, rest_ ? last_ : before));
  return complete(inputs, std::move(made), &RestSessions::again);
}

Result<Outputs> NetworkSession::settled(const Inputs& inputs, Outputs last, const Outputs& first) {
  record_.reset();
  if (!rest_) return first_->settled(inputs, std::move(last), first);
  CLVET_ASSIGN_OR_RETURN(Outputs made, first_->settled(inputs, last_, earlier_));
  return complete(inputs, std::move(made), &RestSessions::settled);
}

std::optional<Tensor> NetworkSession::lend_input(const std::string& name) {
  record_.reset();
  // The rest reads it from the host.
  if (rest_ && rest_->reads(name)) return std::nullopt;
  return first_->lend_input(name);
}

Status NetworkSession::time_nodes(const Inputs& inputs) {
  record_.reset();
  CLVET_RETURN_IF_ERROR(first_->time_nodes(inputs));
  return rest_ ? rest_->time_nodes() : Status();
}

Result<Profile> NetworkSession::profile(const Inputs& inputs) {
  record_.reset();
  CLVET_ASSIGN_OR_RETURN(Profile profile, first_->profile(inputs));
  if (!rest_) return profile;
  CLVET_ASSIGN_OR_RETURN(Profile rest, rest_->profile());
  std::ranges::move(rest, std::back_inserter(profile));
  return profile;
}

void NetworkSession::note() {
  record_.reset();
  first_->note();
  if (rest_) rest_->note();
}

void NetworkSession::save_programs() {
  record_.reset();
  first_->save_programs();
  if (rest_) rest_->save_programs();
}

const RunRecord& NetworkSession::record() const {
  if (!rest_) return first_->record();
  if (!record_) {
    record_ = joined(first_->record(), rest_->record());
    record_->warnings = setbacks_->warnings;
  }
  return *record_;
}

}  // namespace clvet
