// GatherND.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"
#include "runtime/ops/support/tuples.h"

namespace clvet::op_gather_nd {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape &data = call.shape(0), &indices = call.shape(1);
  const int64_t batch = call.node.int_attr("batch_dims", 0);
  if (data.empty()) return bad_shape(call, 0);
  if (indices.empty()) return bad_shape(call, 1);
  const auto rank = static_cast<int64_t>(std::min(data.size(), indices.size()));
  if (batch < 0 || batch >= rank) return bad_attribute(call, "batch_dims", batch);
  for (int64_t i = 0; i < batch; ++i) {
    if (data[static_cast<size_t>(i)] != indices[static_cast<size_t>(i)]) return misfit(call, 0, 1);
  }
  const int64_t depth = indices.back();
  if (depth < 1 || depth > static_cast<int64_t>(data.size()) - batch) return misfit(call, 0, 1);
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + batch + depth, data.end());
  return Types{{call.type(0).dtype, out}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor& data = call.tensor(0);
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.integers(1));
  const auto batch = static_cast<size_t>(call.node.int_attr("batch_dims", 0));
  const auto depth = static_cast<size_t>(call.shape(1).back());
  const int64_t batches = elements_of(std::span(data.shape()).first(batch));
  const Shape one(data.shape().begin() + static_cast<std::ptrdiff_t>(batch), data.shape().end());
  const std::vector<int64_t> strides = strides_of(one);
  const size_t width = size_of(data.dtype());
  const size_t block = width * static_cast<size_t>(elements_of(std::span(one).subspan(depth)));
  const size_t tuples = indices.size() / depth;
  const size_t per_batch = tuples / static_cast<size_t>(batches);
  std::byte* to = outputs[0].raw();
  for (size_t t = 0; t < tuples; ++t, to += block) {
    const int64_t offset = tuple_offset(std::span(indices).subspan(t * depth, depth), one, strides);
    if (offset < 0) return index_outside(call);
    const int64_t start = static_cast<int64_t>(t / per_batch) * elements_of(one);
    std::memcpy(to, data.raw() + static_cast<size_t>(start + offset) * width, block);
  }
  return {};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto types = infer(call);
  const Shape &data = call.shape(0), &indices = call.shape(1);
  if (!types || elements_of(data) == 0 || elements_of(indices) == 0 ||
      elements_of(indices) > kMostPicked)
    return {};
  const auto batch = static_cast<size_t>(call.node.int_attr("batch_dims", 0));
  const auto depth = static_cast<size_t>(indices.back());
  const int64_t tuples = elements_of(indices) / indices.back();
  const int64_t batches = elements_of(std::span(data).first(batch));
  const int64_t rows = elements_of(std::span(data).first(batch + depth));
  const int64_t block = elements_of(data) / rows;
  std::vector<int64_t> bases;
  for (int64_t t = 0; t < tuples; ++t) bases.push_back(t / (tuples / batches) * (rows / batches));
  const Term table = s.reshaped(s.input(0), {rows, block});
  const Term within = rows_of_tuples(s, s.reshaped(s.input(1), {tuples, indices.back()}),
                                     std::span(data).subspan(batch, depth));
  const Term at = s.one("Add", {integers(bases), within});
  return {picked(s, table, at, (*types)[0].shape)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"GatherND"},
    .since = 11,
    .inputs = "* i",
    .attributes = "batch_dims:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_gather_nd
