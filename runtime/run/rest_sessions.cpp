#include "runtime/run/rest_sessions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/cut.h"
#include "runtime/plan/planner.h"
#include "runtime/run/doubt.h"
#include "runtime/run/network_options.h"
#include "runtime/run/network_session.h"
#include "runtime/run/node_times.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"
#include "runtime/run/setbacks.h"

namespace clvet {
namespace {

constexpr size_t kMostKept = 4;  // each holds the weights once more
constexpr size_t kMostSeen = 64;

// Equal where one plan serves.
std::string set_of(const RestOfGraph& rest, const RestSessions::Inputs& given) {
  Sha256 hash;
  for (const auto& [name, tensor] : given) {
    hash.add_field(name).add_field(to_string(tensor.type()));
    if (rest.deciding.contains(name)) hash.add({tensor.raw(), tensor.bytes()});
  }
  return hash.hex();
}

// What only a run tells has a type now.
RestOfGraph typed(RestOfGraph rest, const RestSessions::Inputs& given) {
  for (const ValueId id : rest.graph.inputs) {
    Value& value = rest.graph.values[static_cast<size_t>(id)];
    if (!value.dtype) value.dtype = given.at(value.name).dtype();
  }
  return rest;
}

}  // namespace

RestSessions::RestSessions(std::shared_ptr<const RestOfGraph> rest, NetworkOptions options,
                           std::shared_ptr<Setbacks> setbacks)
    : rest_(std::move(rest)), options_(std::move(options)), setbacks_(std::move(setbacks)) {}

RestSessions::~RestSessions() = default;

bool RestSessions::reads(const std::string& input) const {
  return std::ranges::any_of(rest_->graph.inputs, [&](ValueId id) {
    return rest_->graph.values[static_cast<size_t>(id)].name == input;
  });
}

bool RestSessions::came_before(const Inputs& given) {
  std::string set = set_of(*rest_, given);
  if (const auto found = std::ranges::find(seen_, set); found != seen_.end()) {
    seen_.erase(found);
    return true;
  }
  if (seen_.size() == kMostSeen) seen_.erase(seen_.begin());
  seen_.push_back(std::move(set));
  return false;
}

NetworkSession* RestSessions::session_for(const Inputs& given) {
  auto one = std::ranges::find_if(
      kept_, [&](const auto& session) { return session->is_ready_for(given); });
  if (one == kept_.end()) {
    const bool is_hopeful = kept_.empty() || options_.strict || came_before(given);
    if (!is_hopeful) return nullptr;
    if (kept_.size() < kMostKept)
      kept_.push_back(NetworkSession::of_rest(typed(*rest_, given), options_, setbacks_));
    one = std::prev(kept_.end());
  }
  std::rotate(kept_.begin(), one, std::next(one));
  return kept_.front().get();
}

Result<Outputs> RestSessions::on_host(const Inputs& given) {
  const double started = monotonic_seconds();
  if (!host_) {
    CLVET_ASSIGN_OR_RETURN(
        host_, Session::create(rest_->graph,
                               plan_on_host(rest_->graph,
                                            "its shapes came for the first time; they are planned "
                                            "once they come again"),
                               nullptr));
    host_->set_cancel(options_.cancelled.get());
    describe_plan(host_->plan(), host_record_);
    host_record_.device = "host";
  }
  CLVET_ASSIGN_OR_RETURN(Outputs outputs, host_->run(given));
  host_record_.first_ms = ms_since(started);
  return outputs;
}

Result<Outputs> RestSessions::answer(const Inputs& given, const Ask& ask) {
  NetworkSession* session = session_for(given);
  const bool repeats = session && session == session_ && same_outputs(given, last_.given);
  const bool moves = session != session_ || places_ == 0;
  session_ = session;
  auto outputs = !session ? on_host(given) : repeats ? ask(*session) : session->run(given);
  if (!outputs) {
    last_ = {};
    return outputs;
  }
  last_ = {given, *outputs};
  const size_t place = session ? session->place() : 0;
  if (moves || place != of_session_) {
    of_session_ = place;
    ++places_;
    earlier_ = last_;
  }
  return outputs;
}

Result<Outputs> RestSessions::run(const Inputs& given) {
  return answer(given, [&](NetworkSession& session) { return session.run(given); });
}

Result<Outputs> RestSessions::again(const Inputs& given) {
  return answer(given,
                [&](NetworkSession& session) { return session.again(given, last_.outputs); });
}

Result<Outputs> RestSessions::settled(const Inputs& given) {
  if (!same_outputs(given, last_.given)) return run(given);
  if (!session_ || !same_outputs(given, earlier_.given)) return last_.outputs;
  return answer(given, [&](NetworkSession& session) {
    return session.settled(given, last_.outputs, earlier_.outputs);
  });
}

bool RestSessions::is_on_device() const { return session_ && session_->is_on_device(); }

const RunRecord& RestSessions::record() const {
  return session_ ? session_->record() : host_record_;
}

Status RestSessions::time_nodes() {
  if (session_) return session_->time_nodes(last_.given);
  return clvet::time_nodes(*host_, last_.given, false, host_record_);
}

Result<Profile> RestSessions::profile() {
  return session_ ? session_->profile(last_.given) : profile_of(*host_, last_.given, false, {});
}

void RestSessions::note() {
  for (const auto& session : kept_) session->note();
}

void RestSessions::save_programs() {
  for (const auto& session : kept_) session->save_programs();
}

}  // namespace clvet
