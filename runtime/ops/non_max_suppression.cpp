// NonMaxSuppression: the shape of the result follows from the boxes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_non_max_suppression {
namespace {

using Selected = std::array<int64_t, 3>;  // batch, class, box

struct Box {
  float low[2], high[2];
  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

Box box_of(const float* p, bool center) {
  if (center) return {{p[0] - p[2] / 2, p[1] - p[3] / 2}, {p[0] + p[2] / 2, p[1] + p[3] / 2}};
  return {{std::min(p[0], p[2]), std::min(p[1], p[3])},
          {std::max(p[0], p[2]), std::max(p[1], p[3])}};
}

bool overlap(const Box& a, const Box& b, float threshold) {
  float both = 1;
  for (int i = 0; i < 2; ++i) {
    const float extent = std::min(a.high[i], b.high[i]) - std::max(a.low[i], b.low[i]);
    if (!(extent > 0)) return false;
    both *= extent;
  }
  const float all = a.area() + b.area() - both;
  return all > 0 && both / all > threshold;
}

struct Limits {
  int64_t most = 0;
  float overlap = 0, score = 0;
  bool has_score = false;
};

Result<Limits> limits_of(const OpCall& call) {
  Limits limits;
  if (call.has(2)) {
    CLVET_ASSIGN_OR_RETURN(limits.most, single_integer(call, 2));
  }
  if (call.has(3)) {
    CLVET_ASSIGN_OR_RETURN(const double value, single_number(call, 3));
    if (!(value >= 0 && value <= 1)) return bad_value(call, 3, value);
    limits.overlap = static_cast<float>(value);
  }
  limits.has_score = call.has(4);
  if (call.has(4)) {
    CLVET_ASSIGN_OR_RETURN(const double value, single_number(call, 4));
    limits.score = static_cast<float>(value);
  }
  return limits;
}

// The boxes of one class, best first; of equal scores the lower index first.
std::vector<int64_t> picked(const std::vector<Box>& boxes, const float* scores,
                            const Limits& limits) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (scores[i] == scores[i] && (!limits.has_score || scores[i] > limits.score))
      order.push_back(static_cast<int64_t>(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> kept;
  for (const int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) >= limits.most) break;
    const bool hidden = std::any_of(kept.begin(), kept.end(), [&](int64_t k) {
      return overlap(boxes[static_cast<size_t>(i)], boxes[static_cast<size_t>(k)], limits.overlap);
    });
    if (!hidden) kept.push_back(i);
  }
  return kept;
}

Result<std::vector<Selected>> select(const OpCall& call) {
  const Shape &boxes = call.shape(0), &scores = call.shape(1);
  if (boxes.size() != 3 || boxes[2] != 4) return bad_shape(call, 0);
  if (scores.size() != 3 || scores[0] != boxes[0] || scores[2] != boxes[1])
    return misfit(call, 0, 1);
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (call.type(i).dtype != DType::kF32) return bad_type(call, i);
  }
  const int64_t form = call.node.int_attr("center_point_box", 0);
  if (form < 0 || form > 1) return bad_attribute(call, "center_point_box", form);
  CLVET_ASSIGN_OR_RETURN(const Limits limits, limits_of(call));
  std::vector<Selected> selected;
  if (boxes[1] == 0 || boxes[0] == 0) return selected;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (!call.inputs[i].value)
      return fail(ErrorCode::kUnavailable, "the value of input {} is not known yet", i);
  }
  for (int64_t n = 0; n < boxes[0]; ++n) {
    std::vector<Box> all;
    for (int64_t i = 0; i < boxes[1]; ++i)
      all.push_back(box_of(call.tensor(0).data<float>() + (n * boxes[1] + i) * 4, form == 1));
    for (int64_t c = 0; c < scores[1]; ++c) {
      const float* row = call.tensor(1).data<float>() + (n * scores[1] + c) * scores[2];
      for (const int64_t box : picked(all, row, limits)) selected.push_back({n, c, box});
    }
  }
  return selected;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const auto selected, select(call));
  return Types{{DType::kI64, {static_cast<int64_t>(selected.size()), 3}}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const auto selected, select(call));
  auto* y = outputs[0].data<int64_t>();
  for (const Selected& row : selected) y = std::copy(row.begin(), row.end(), y);
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"NonMaxSuppression"},
    .since = 10,
    .inputs = "T T l? f? f?",
    .attributes = "center_point_box:i",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_non_max_suppression
