#include "runtime/precision/device/watch_device.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/live_values.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/graph_suspect.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/value_range.h"
#include "runtime/precision/watch.h"

namespace clvet {
namespace {

// The reference, which goes from node to node beside the device.
class Reference {
 public:
  // `left` is called with each node in order, while its inputs and outputs are there.
  using Left = std::function<Status(size_t node)>;
  Reference(const Emulation& emulation, const std::map<std::string, Tensor>& inputs, Left left)
      : emulation_(emulation), values_(emulation.graph(), inputs), left_(std::move(left)) {}

  Status enter(size_t node) {
    while (next_ <= node) {
      CLVET_RETURN_IF_ERROR(leave());
      const double started = monotonic_seconds();
      CLVET_ASSIGN_OR_RETURN(made_, emulation_.run(next_, values_.all(), Rounded::nothing()));
      ms_ = ms_since(started);
      ++next_;
    }
    return {};
  }
  Status finish() {
    CLVET_RETURN_IF_ERROR(enter(emulation_.graph().nodes.size() - 1));
    return leave();
  }

  const std::vector<Tensor>& values() const { return values_.all(); }
  const std::vector<Tensor>& made() const { return made_; }  // by the node that was entered
  double ms() const { return ms_; }
  // Null where it is not float32.
  const Tensor* made(ValueId value) const {
    const std::vector<ValueId>& outputs = emulation_.graph().nodes[next_ - 1].outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] == value && made_[i].dtype() == DType::kF32) return &made_[i];
    return nullptr;
  }
  std::map<std::string, Tensor> outputs() const { return values_.outputs(); }

 private:
  Status leave() {
    if (next_ == left_nodes_) return {};
    CLVET_RETURN_IF_ERROR(left_(left_nodes_));
    values_.take(emulation_.graph().nodes[left_nodes_++], std::move(made_));
    return {};
  }

  const Emulation& emulation_;
  LiveValues values_;
  Left left_;
  size_t next_ = 0, left_nodes_ = 0;
  std::vector<Tensor> made_;
  double ms_ = 0;
};

class DeviceWatch {
 public:
  DeviceWatch(const Emulation& emulation, Session& session,
              const std::map<std::string, Tensor>& inputs)
      : emulation_(emulation), session_(session), inputs_(inputs) {}

  Result<Watched> run(bool together) {
    watched_.seen.nodes.resize(emulation_.graph().nodes.size());
    see_inputs();
    CLVET_RETURN_IF_ERROR(run_alone());
    if (together) CLVET_RETURN_IF_ERROR(run_together());
    return std::move(watched_);
  }

 private:
  NumberFormat format() const { return emulation_.rules().format; }
  WatchedNode& at(size_t node) { return watched_.seen.nodes[node]; }

  void see_inputs() {
    for (const ValueId id : emulation_.graph().inputs) {
      ValueRange& range = watched_.seen.inputs.emplace_back();
      const auto given = inputs_.find(emulation_.graph().values[static_cast<size_t>(id)].name);
      if (given != inputs_.end() && given->second.dtype() == DType::kF32)
        range.add(given->second.values<float>(), format());
    }
  }

  Status run_alone() {
    Reference* beside = nullptr;
    Reference reference(emulation_, inputs_, [&](size_t node) { return look(node, *beside); });
    beside = &reference;
    // A value that the host does not compute in float32 stays what the device has.
    const auto reads = [&](size_t node, ValueId value) -> const Tensor* {
      if (!reference.enter(node)) return nullptr;
      const Tensor& tensor = reference.values()[static_cast<size_t>(value)];
      return tensor.elements() > 0 && tensor.dtype() == DType::kF32 ? &tensor : nullptr;
    };
    const auto wrote = [&](size_t node, ValueId value, const Tensor& made) -> Status {
      CLVET_RETURN_IF_ERROR(reference.enter(node));
      if (const Tensor* exact = reference.made(value))
        at(node).isolated.add(made.values<float>(), exact->values<float>());
      return {};
    };
    CLVET_RETURN_IF_ERROR(session_.watch(inputs_, {reads, wrote}));
    CLVET_RETURN_IF_ERROR(reference.finish());
    watched_.reference = reference.outputs();
    return {};
  }

  Status run_together() {
    Reference reference(emulation_, inputs_, [](size_t) { return Status(); });
    const auto wrote = [&](size_t node, ValueId value, const Tensor& made) -> Status {
      CLVET_RETURN_IF_ERROR(reference.enter(node));
      const Tensor* exact = reference.made(value);
      if (!exact) return {};
      at(node).cumulative.add(made.values<float>(), exact->values<float>());
      at(node).constant |= all_alike(made.values<float>()) && !all_alike(exact->values<float>());
      return {};
    };
    CLVET_ASSIGN_OR_RETURN(watched_.low, session_.watch(inputs_, {nullptr, wrote}));
    return {};
  }

  // At a node whose outputs the device has made.
  Status look(size_t index, const Reference& reference) {
    WatchedNode& node = at(index);
    node.ms = reference.ms();
    see_values(reference.made(), format(), node);
    if (!(node.isolated.part() > isolated_bound(format()))) return {};
    CLVET_ASSIGN_OR_RETURN(node.blame, blame(index, reference));
    return {};
  }

  // What rounding explains on the host is put down to it; the rest is the kernel's.
  Result<Blame> blame(size_t index, const Reference& reference) const {
    CLVET_ASSIGN_OR_RETURN(const auto rounded,
                           emulation_.run(index, reference.values(), Rounded()));
    const Deviation expected = deviation_of(rounded, reference.made());
    const Deviation& found = watched_.seen.nodes[index].isolated;
    const GraphSuspect suspect(emulation_, index, reference.values(), reference.made());
    const bool explained =
        expected.part() > isolated_bound(format()) && (expected.lost > 0 || found.lost == 0);
    if (explained) return blame_of(suspect);
    Blame blame;
    blame.fault = PrecisionFault::kArithmetic;
    blame.place = FaultPlace::kInside;
    blame.value = suspect.outputs().empty() ? "" : suspect.outputs().front().name;
    return blame;
  }

  const Emulation& emulation_;
  Session& session_;
  const std::map<std::string, Tensor>& inputs_;
  Watched watched_;
};

}  // namespace

Result<Watched> watch_alone(const Emulation& emulation, Session& session,
                            const std::map<std::string, Tensor>& inputs) {
  return DeviceWatch(emulation, session, inputs).run(false);
}

Result<Watched> watch_device(const Emulation& emulation, Session& session,
                             const std::map<std::string, Tensor>& inputs) {
  return DeviceWatch(emulation, session, inputs).run(true);
}

}  // namespace clvet
