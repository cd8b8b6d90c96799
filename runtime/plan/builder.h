// Builds the plan of a graph for one combination, node by node; or again by a plan that was made
// before.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

// What is chosen for each node apart; else it is the combination's.
struct PlanFreedom {
  bool weights = false;      // where weights lie
  bool activations = false;  // where activations lie, copies between the storages counted
  const std::set<std::string, std::less<>>* raised = nullptr;  // nodes at high; null: none
  std::optional<Memory> memory;  // low: weights of levels stay so wherever a kernel reads them;
                                 // normal: none do; nullopt: where that is not much slower
};

class PlanBuilder {
 public:
  // All must outlive the builder. With `fixed`, places and variants are that plan's, and nothing is
  // chosen.
  PlanBuilder(const Graph& graph, const VariantChooser& chooser, const Combination& combination,
              const PlanFreedom& freedom, const ExecutionPlan* fixed = nullptr);
  // Once. kInternal where the graph is not in order; kInvalidArgument where `fixed` is not a plan
  // of this graph, or a variant in it cannot serve.
  Result<ExecutionPlan> build();

 private:
  // One of Lowering::others with a variant a call, and what they take together.
  struct ChosenWay {
    const std::vector<LoweredCall>* calls;
    std::vector<ChosenVariant> chosen;
    double ms;
  };
  struct Wanted {
    TensorRole role;
    View view = View::kChannelsLast;
    size_t rank = 0;  // the view is of the shape with leading extents of 1 up to this rank
    Storage storage = Storage::kBuffer;
    bool half = false;
  };

  const Node& node_at(int index) const { return graph_.nodes[static_cast<size_t>(index)]; }
  DeviceTensor& tensor_at(int index) { return plan_.tensors[static_cast<size_t>(index)]; }
  const DeviceTensor& tensor_at(int index) const {
    return plan_.tensors[static_cast<size_t>(index)];
  }

  Status place(int index);
  // By the kernels that are right for its calls or, where that is faster, for the other ones; on
  // the host where one of its calls has none.
  Status place_calls(int index, const Lowering& lowering);
  Status place_fixed(int index, const Lowering& lowering);
  View preferred_view(const Node& node) const;
  Status run_on_host(int index);
  void note_empty(int index);
  Status bring_to_host(ValueId value);

  int add_tensor(DeviceTensor tensor, ValueId value);
  // `ms`: its own, the launch of a kernel apart.
  void add_step(PlanStep step, double ms, double launch_ms = 0);
  static Wanted wanted_as(const DeviceTensor& tensor);
  static bool fits(const DeviceTensor& tensor, const Wanted& wanted);
  int find_tensor(ValueId value, const Wanted& wanted) const;
  Result<int> want_value(ValueId value, const Wanted& wanted);
  // The integers `value` as row numbers.
  Result<int> want_indices(ValueId value, const TensorRole& role);
  int add_upload(DeviceTensor tensor, ValueId value);
  // What the host has, as it has it, put in order on the device; -1 where no kernel does that, or
  // where the host is as fast.
  int bring_plain(ValueId value, const DeviceTensor& wanted);
  // The tensor in the host's order, made of `source`; -1 as above.
  int make_plain(int source);
  // Of a plan that is followed: whether its next step uploads what is in the host's order, and
  // whether it downloads `value` so.
  bool uploads_plain() const;
  // The tensor that a step of the followed plan brings over, if it is one of that kind.
  const DeviceTensor* fixed_tensor(const PlanStep& step, StepKind kind) const;
  bool downloads_plain(const std::string& value) const;
  struct Mark {
    size_t tensors, steps;
    double ms;
  };
  Mark mark() const { return {plan_.tensors.size(), phase().steps.size(), phase().ms}; }
  // Takes back what was added since.
  void back_to(const Mark& mark);
  // Whether what was added since takes, with `more`, less than `instead_of`. Kernels without a time
  // do not. Of a plan that is followed its steps say what is worth it.
  bool is_worth(const Mark& since, double more, double instead_of) const;
  // The same values as wanted; -1 where no trusted kernel makes them so.
  int convert(int source, const Wanted& wanted);
  int change_order(int source, const Wanted& wanted);
  // That of the move; nullopt: no one call makes it.
  static std::optional<LoweredCall> order_call(const DeviceTensor& from, const Wanted& wanted);
  int change_storage(int source, const Wanted& wanted);
  // The same order in buffers, as float32 or half as wanted.
  int change_number(int source, bool half);
  Combination copy_combination(bool half) const;
  static std::string copy_op(Storage to);
  // Enqueues `chosen`, whose input is `source`, into a new tensor.
  int add_conversion(int source, const Wanted& wanted, const WantedCall& call,
                     const ChosenVariant& chosen);

  // False where a value that the caller gives cannot be had under `view`.
  bool bring_given(ValueId input, const View& view, bool half);
  bool alias(int index, const Lowering& lowering);
  int alias_root(int tensor) const;

  // One variant a call; the error is that of the first call that no kernel takes.
  Result<std::vector<ChosenVariant>> choose_all(int index,
                                                const std::vector<LoweredCall>& calls) const;
  Result<std::vector<ChosenVariant>> choose_stored(int index, const std::vector<LoweredCall>& calls,
                                                   Storage activations) const;
  // Of Lowering::others the one that is predicted to be the fastest, stored like `chosen` of
  // Lowering::calls; nullopt where none is trusted, has the memory that it needs, and is predicted
  // to save enough.
  std::optional<ChosenWay> choose_other(int index, const Lowering& lowering,
                                        const std::vector<ChosenVariant>& chosen) const;
  std::optional<ChosenWay> way_of(int index, const std::vector<LoweredCall>& calls,
                                  const Variant& wanted) const;
  // Whether the device has room for the weights of these calls and for what they hand on.
  bool has_room(const std::vector<LoweredCall>& calls) const;
  // The variant that reads the node's weights as levels in the place of `floats`, stored alike;
  // nullopt where none does, or where it is too slow.
  std::optional<ChosenVariant> choose_levels(const Node& node, WantedCall wanted,
                                             const ChosenVariant& floats) const;
  // The type of weights with which a variant of a given plan may read those of the node.
  WeightType weights_of(const Node& node, const std::string& variant) const;
  // The plan's, or high where the node is raised.
  Precision precision_of(const Node& node) const;
  // Of a node's calls with the copies that their inputs need; 0: not timed.
  double cost_of(const Node& node, const std::vector<LoweredCall>& calls,
                 const std::vector<ChosenVariant>& chosen) const;
  double copy_cost(ValueId value, const TensorRole& role, Storage storage, bool half) const;
  // Of putting in order what the host has and nothing has brought to the device yet.
  double order_cost(ValueId value, const Wanted& wanted) const;
  void name_weights();
  void name_memory();
  // Of a plan that is followed: those of the node that its steps make.
  const std::vector<LoweredCall>& fixed_calls(int index, const Lowering& lowering) const;
  Result<std::vector<ChosenVariant>> fixed_choices(int index,
                                                   const std::vector<LoweredCall>& calls) const;
  // A copy from order to order or storage to storage.
  Result<ChosenVariant> choose_copy(const WantedCall& wanted) const;
  Status run_on_device(int index, const std::vector<LoweredCall>& calls,
                       const std::vector<ChosenVariant>& chosen);
  Result<int> add_call(int index, const LoweredCall& lowered, const ChosenVariant& chosen,
                       const std::vector<int>& made);
  int add_output(const Node& node, const LoweredCall& lowered, const TensorRole& role,
                 const CallArg& arg, bool half);
  Result<int> input_tensor(const Node& node, const LoweredCall& lowered, const CallArg& arg,
                           const TensorRole& role, bool half, const std::vector<int>& made);
  Result<int> index_tensor(const Node& node, const LoweredCall& lowered, const TensorRole& role);
  int add_constant(int index, const LoweredCall& lowered, const std::string& role);
  void share_buffers();

  PlanPhase& phase() { return plan_.phases.front(); }
  const PlanPhase& phase() const { return plan_.phases.front(); }

  const Graph& graph_;
  const VariantChooser& chooser_;
  PlanFreedom freedom_;
  const ExecutionPlan* fixed_;
  std::vector<bool> on_host_;
  std::vector<ValueId> tensor_values_;  // of each tensor of the plan
  ExecutionPlan plan_;
};

}  // namespace clvet
