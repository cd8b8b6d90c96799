#include "runtime/precision/watch.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
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

namespace clvet {
namespace {

bool each_alike(std::span<const Tensor> tensors) {
  bool several = false;
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != DType::kF32 || tensor.elements() < 2) continue;
    if (!all_alike(tensor.values<float>())) return false;
    several = true;
  }
  return several;
}

class Watch {
 public:
  Watch(const Emulation& emulation, const std::map<std::string, Tensor>& inputs)
      : emulation_(emulation),
        graph_(emulation.graph()),
        exact_(graph_, inputs),
        low_(emulation, inputs) {}

  Result<Watched> run() {
    Watched watched;
    for (const ValueId id : graph_.inputs) {
      const Tensor& input = exact_.all()[static_cast<size_t>(id)];
      ValueRange& range = watched.seen.inputs.emplace_back();
      if (input.dtype() == DType::kF32) range.add(input.values<float>(), emulation_.rules().format);
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      CLVET_ASSIGN_OR_RETURN(WatchedNode node, look(n));
      watched.seen.nodes.push_back(std::move(node));
    }
    watched.reference = exact_.outputs();
    watched.low = low_.outputs();
    if (before_) watched.before.emplace(*before_);
    return watched;
  }

 private:
  Result<WatchedNode> look(size_t index) {
    WatchedNode found;
    const double started = monotonic_seconds();
    CLVET_ASSIGN_OR_RETURN(auto exact, emulation_.run(index, exact_.all(), Rounded::nothing()));
    found.ms = ms_since(started);
    see_values(exact, emulation_.rules().format, found);
    if (found.floats) CLVET_RETURN_IF_ERROR(look_alone(index, exact, found));
    if (found.blame && !before_) before_.emplace(low_);
    CLVET_ASSIGN_OR_RETURN(const auto low, low_.step(false));
    if (found.floats) {
      found.cumulative = deviation_of(low, exact);
      found.constant = !found.range.constant() && found.range.count > 1 && each_alike(low);
    }
    exact_.take(graph_.nodes[index], std::move(exact));
    return found;
  }

  Status look_alone(size_t index, std::span<const Tensor> exact, WatchedNode& found) const {
    CLVET_ASSIGN_OR_RETURN(const auto alone, emulation_.run(index, exact_.all(), Rounded()));
    found.isolated = deviation_of(alone, exact);
    if (!(found.isolated.part() > isolated_bound(emulation_.rules().format))) return {};
    CLVET_ASSIGN_OR_RETURN(found.blame,
                           blame_of(GraphSuspect(emulation_, index, exact_.all(), exact)));
    return {};
  }

  const Emulation& emulation_;
  const Graph& graph_;
  LiveValues exact_;
  LowRun low_;
  std::optional<LowRun> before_;  // see Watched
};

}  // namespace

void see_values(std::span<const Tensor> exact, NumberFormat format, WatchedNode& node) {
  for (const Tensor& output : exact) {
    if (output.dtype() != DType::kF32) continue;
    node.floats = true;
    node.range.add(output.values<float>(), format);
    node.integers |= has_large_integers(output.values<float>(), format);
  }
}

Result<Watched> watch(const Emulation& emulation, const std::map<std::string, Tensor>& inputs) {
  return Watch(emulation, inputs).run();
}

}  // namespace clvet
