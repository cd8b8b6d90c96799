// Unique: of all elements, or of the slices of an axis. The shapes follow from the values.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/ordering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_unique {
namespace {

struct Groups {
  std::vector<int64_t> first;    // of each group: where it is found first
  std::vector<int64_t> inverse;  // of each slice: its group
  std::vector<int64_t> counts;
};

bool has_axis(const OpCall& call) { return call.node.attributes.contains("axis"); }

Result<AxisSpan> span_of(const OpCall& call) {
  if (!has_axis(call)) return AxisSpan({elements_of(call.shape(0))}, 0);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
  return AxisSpan(call.shape(0), axis);
}

// Below 0, 0 or above it as slice a comes before, is or comes after slice b.
template <class T>
int compare(const T* x, const AxisSpan& span, int64_t a, int64_t b) {
  for (int64_t o = 0; o < span.outer; ++o) {
    for (int64_t i = 0; i < span.inner; ++i) {
      const T one = x[(o * span.extent + a) * span.inner + i];
      const T other = x[(o * span.extent + b) * span.inner + i];
      if (above(one, other)) return 1;
      if (above(other, one)) return -1;
    }
  }
  return 0;
}

template <class T>
Groups groups_of(const T* x, const AxisSpan& span, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(span.extent));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int c = compare(x, span, a, b);
    return c == 0 ? a < b : c < 0;
  });
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || compare(x, span, order[k - 1], order[k]) != 0) {
      groups.first.push_back(order[k]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[k])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  std::vector<size_t> by_place(groups.first.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::sort(by_place.begin(), by_place.end(),
            [&](size_t a, size_t b) { return groups.first[a] < groups.first[b]; });
  Groups placed{{}, groups.inverse, {}};
  std::vector<int64_t> rank(by_place.size());
  for (size_t k = 0; k < by_place.size(); ++k) {
    placed.first.push_back(groups.first[by_place[k]]);
    placed.counts.push_back(groups.counts[by_place[k]]);
    rank[by_place[k]] = static_cast<int64_t>(k);
  }
  for (int64_t& group : placed.inverse) group = rank[static_cast<size_t>(group)];
  return placed;
}

Result<Groups> groups_of(const OpCall& call, const AxisSpan& span) {
  if (!call.inputs[0].value)
    return fail(ErrorCode::kUnavailable, "the value of input {} is not known yet", 0);
  const bool sorted = call.node.int_attr("sorted", 1) != 0;
  // Short floats are compared as the floats that they are.
  CLVET_ASSIGN_OR_RETURN(const Tensor x, is_short_float(call.type(0).dtype)
                                             ? call.inputs[0].value->cast(DType::kF32)
                                             : Result<Tensor>(*call.inputs[0].value));
  return visit(x.dtype(), [&]<class T>() {
    if constexpr (kIsShortFloat<T>)
      return Groups{};
    else
      return groups_of(x.data<T>(), span, sorted);
  });
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const AxisSpan span, span_of(call));
  // Slices of no elements are too many to compare.
  if (has_axis(call) && elements_of(call.shape(0)) == 0) return bad_shape(call, 0);
  CLVET_ASSIGN_OR_RETURN(const Groups groups, groups_of(call, span));
  const auto count = static_cast<int64_t>(groups.first.size());
  Shape out{count};
  if (has_axis(call)) {
    CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
    out = call.shape(0);
    out[static_cast<size_t>(axis)] = count;
  }
  return Types{{call.type(0).dtype, out},
               {DType::kI64, {count}},
               {DType::kI64, {span.extent}},
               {DType::kI64, {count}}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const AxisSpan span, span_of(call));
  CLVET_ASSIGN_OR_RETURN(const Groups groups, groups_of(call, span));
  const size_t block = size_of(call.type(0).dtype) * static_cast<size_t>(span.inner);
  std::byte* to = outputs[0].raw();
  for (int64_t o = 0; o < span.outer; ++o) {
    for (const int64_t a : groups.first) {
      std::memcpy(to, call.tensor(0).raw() + static_cast<size_t>(o * span.extent + a) * block,
                  block);
      to += block;
    }
  }
  const std::vector<int64_t>* lists[] = {&groups.first, &groups.inverse, &groups.counts};
  for (size_t i = 1; i < outputs.size(); ++i)
    std::copy(lists[i - 1]->begin(), lists[i - 1]->end(), outputs[i].data<int64_t>());
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Unique"},
    .since = 11,
    .inputs = "*",
    .attributes = "axis:i sorted:i",
    .max_outputs = 4,
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_unique
