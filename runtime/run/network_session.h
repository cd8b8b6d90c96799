// A network where it runs best, again and again, and elsewhere once it fails there. Where shapes
// follow from values that it computes, what follows them is planned once these are there.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/cut.h"
#include "runtime/run/doubt.h"
#include "runtime/run/network_options.h"
#include "runtime/run/open_network.h"
#include "runtime/run/part_session.h"
#include "runtime/run/profile.h"
#include "runtime/run/rest_sessions.h"
#include "runtime/run/run_record.h"
#include "runtime/run/setbacks.h"

namespace clvet {

class NetworkSession final : public OpenNetwork {
 public:
  // `graph` as read from the file; `report` may be null for the host, and must outlive it.
  static Result<std::unique_ptr<NetworkSession>> open(Graph graph, const Report* report,
                                                      NetworkOptions options);
  // Of what a cut leaves. It says and refuses nothing of where it runs: the whole does.
  static std::unique_ptr<NetworkSession> of_rest(RestOfGraph rest, const NetworkOptions& options,
                                                 std::shared_ptr<Setbacks> setbacks);

  // Makes ready for inputs of these shapes, as far as that can be done before it runs. Errors as of
  // run(), which does so first.
  Status prepare(const Inputs& inputs) { return first_->prepare(inputs); }
  // prepare() found that the host alone will answer.
  bool is_for_host() const { return !first_->is_on_device() && !first_->rest(); }

  Result<Outputs> run(const Inputs& inputs) override;
  Result<Outputs> again(const Inputs& inputs, const Outputs& before) override;
  Result<Outputs> settled(const Inputs& inputs, Outputs last, const Outputs& first) override;

  size_t place() const override { return places_; }
  bool is_on_device() const;  // a part of it
  // Whether it has a plan for inputs of these shapes.
  bool is_ready_for(const Inputs& inputs) const { return first_->is_ready_for(inputs); }
  std::optional<Tensor> lend_input(const std::string& name) override;
  Status time_nodes(const Inputs& inputs) override;
  Result<Profile> profile(const Inputs& inputs) override;
  void note() override;
  void save_programs() override;

  // Of the parts that gave the last answer.
  const RunRecord& record() const override;
  const Graph& graph() const override { return first_->graph(); }

 private:
  NetworkSession(std::unique_ptr<PartSession> first, NetworkOptions options,
                 std::shared_ptr<Setbacks> setbacks, bool is_rest)
      : options_(std::move(options)),
        is_rest_(is_rest),
        setbacks_(std::move(setbacks)),
        first_(std::move(first)) {}

  // Lets the rest answer, if there is one, where the first part made `made`.
  Result<Outputs> complete(const Inputs& inputs, Outputs made,
                           Result<Outputs> (RestSessions::*ask)(const Inputs& given));
  void note_place();
  // Whether the network runs where it was to; said, or refused, where it does not.
  Status check_place();

  const NetworkOptions options_;
  const bool is_rest_;
  const std::shared_ptr<Setbacks> setbacks_;
  const std::unique_ptr<PartSession> first_;
  std::unique_ptr<RestSessions> rest_;  // null: the first part is all
  // With a rest: what the first part made for the last answer, and for the first of its place.
  Outputs last_, earlier_;
  std::pair<size_t, size_t> place_;  // of the first part, and of the rest
  size_t places_ = 0;
  mutable std::optional<RunRecord> record_;  // of all parts; nothing: it is to be made
};

}  // namespace clvet
