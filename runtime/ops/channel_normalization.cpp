// InstanceNormalization and GroupNormalization: each group of channels of a sample for itself, an
// instance being a group of one channel.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/normalization.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_channel_normalization {
namespace {

// Up to opset 20, GroupNormalization has a scale and a bias for each group, later for each channel.
constexpr int kByChannel = 21;

bool is_group(const OpCall& call) { return call.node.op == "GroupNormalization"; }

int64_t groups_of(const OpCall& call) {
  return is_group(call) ? call.node.int_attr("num_groups", 0) : call.shape(0)[1];
}

Result<Types> infer(const OpCall& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 2) return bad_shape(call, 0);
  if (is_group(call) && !call.node.attributes.contains("num_groups"))
    return missing_attribute(call, "num_groups");
  const int64_t groups = groups_of(call);
  if (is_group(call) && (groups < 1 || shape[1] % groups != 0))
    return bad_attribute(call, "num_groups", groups);
  const bool by_group = is_group(call) && call.node.opset < kByChannel;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (call.shape(i) != Shape{by_group ? groups : shape[1]}) return misfit(call, 0, i);
  }
  return infer_same(call);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return channel_norm_on_host(call, groups_of(call), outputs);
}

std::vector<Term> steps(Steps& s) { return channel_norm_steps(s, groups_of(s.call())); }

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"InstanceNormalization", {"GroupNormalization", 18}},
    .since = 6,
    .inputs = "T T T",
    .wants_known = {1, 2},
    .attributes = "epsilon:f num_groups:i stash_type:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_channel_normalization
