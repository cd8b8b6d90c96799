// What is left of a network behind a cut: a session for each set of shapes that comes again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/cut.h"
#include "runtime/run/doubt.h"
#include "runtime/run/network_options.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"
#include "runtime/run/setbacks.h"

namespace clvet {

class NetworkSession;

// A set is planned when it comes for the second time; the first of all sets, and with `strict`
// each, at once. The host confirms the first answer of a plan, so that a set which never comes
// again is faster on the host alone. Of more sets than a few, those are kept that were asked for
// last.
class RestSessions {
 public:
  using Inputs = std::map<std::string, Tensor>;

  RestSessions(std::shared_ptr<const RestOfGraph> rest, NetworkOptions options,
               std::shared_ptr<Setbacks> setbacks);
  ~RestSessions();

  const RestOfGraph& rest() const { return *rest_; }
  bool reads(const std::string& input) const;
  // As NetworkSession has them.
  Result<Outputs> run(const Inputs& given);
  Result<Outputs> again(const Inputs& given);
  Result<Outputs> settled(const Inputs& given);

  // Of the last answer.
  size_t place() const { return places_; }
  bool is_on_device() const;
  const RunRecord& record() const;
  Status time_nodes();
  Result<Profile> profile();

  // Of all sessions.
  void note();
  void save_programs();

 private:
  struct Answer {
    Inputs given;
    Outputs outputs;
  };
  using Ask = std::function<Result<Outputs>(NetworkSession& session)>;

  // `ask` gives the answer where the inputs are those of the last one, and the same session has it.
  Result<Outputs> answer(const Inputs& given, const Ask& ask);
  // Null: the host is to compute, without a plan.
  NetworkSession* session_for(const Inputs& given);
  bool came_before(const Inputs& given);
  Result<Outputs> on_host(const Inputs& given);

  const std::shared_ptr<const RestOfGraph> rest_;
  const NetworkOptions options_;
  const std::shared_ptr<Setbacks> setbacks_;
  std::vector<std::unique_ptr<NetworkSession>> kept_;  // the one that was asked last comes first
  std::vector<std::string> seen_;  // sets of shapes that the host computed, the latest last
  std::optional<Session> host_;
  RunRecord host_record_;
  NetworkSession* session_ = nullptr;  // that gave the last answer; null: the host
  size_t of_session_ = 0;              // its place() then
  size_t places_ = 0;
  Answer last_, earlier_;  // the last answer, and the first of its place
};

}  // namespace clvet
