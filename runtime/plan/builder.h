// Builds the plan of a graph for one combination, node by node.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/op_def.h"
#include "runtime/ops/view.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

class PlanBuilder {
 public:
  // Both must outlive the builder.
  PlanBuilder(const Graph& graph, const VariantChooser& chooser, const Combination& combination);
  // Once. kInternal where the graph is not in order.
  Result<ExecutionPlan> build();

 private:
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
  View preferred_view(const Node& node) const;
  Status run_on_host(int index);
  Status bring_to_host(ValueId value);

  int add_tensor(DeviceTensor tensor);
  static bool fits(const DeviceTensor& tensor, const Wanted& wanted);
  int find_tensor(ValueId value, const Wanted& wanted) const;
  Result<int> want_value(ValueId value, const Wanted& wanted);
  // The integers `value` as row numbers.
  Result<int> want_indices(ValueId value, const TensorRole& role);
  int add_upload(DeviceTensor tensor);
  // The same values as wanted; -1 where no trusted kernel makes them so.
  int convert(int source, const Wanted& wanted);
  int change_order(int source, const Wanted& wanted);
  int change_storage(int source, const Wanted& wanted);
  // Enqueues `chosen`, whose input is `source`, into a new tensor.
  int add_conversion(int source, const Wanted& wanted, ChosenVariant chosen);

  bool alias(int index, const Lowering& lowering);
  int alias_root(int tensor) const;

  // nullopt: `reason` says which call no kernel takes.
  std::optional<std::vector<ChosenVariant>> choose_all(std::vector<LoweredCall>& calls,
                                                       std::string& reason) const;
  Status run_on_device(int index, const std::vector<LoweredCall>& calls,
                       std::vector<ChosenVariant> chosen);
  Result<int> add_call(int index, const LoweredCall& lowered, ChosenVariant chosen,
                       const std::vector<int>& made);
  Result<int> input_tensor(const Node& node, const LoweredCall& lowered, const CallArg& arg,
                           const TensorRole& role, bool half, const std::vector<int>& made);
  Result<int> index_tensor(const Node& node, const LoweredCall& lowered, const TensorRole& role);
  int add_constant(int index, const LoweredCall& lowered, const TensorRole& role,
                   const CallArg& arg, const Variant& variant);
  int program_index(const std::shared_ptr<const Program>& program);
  void share_buffers();

  const Graph& graph_;
  const VariantChooser& chooser_;
  std::vector<bool> on_host_;
  ExecutionPlan plan_;
};

}  // namespace clvet
