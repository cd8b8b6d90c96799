// RotaryEmbedding of ONNX: pairs of a head's elements turned by the angles of its position.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/heads.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_rotary_embedding {
namespace {

enum Input : size_t { kX, kCos, kSin, kPositions };

struct Problem {
  Heads x;
  int64_t pairs = 0;
};

Result<Problem> problem_of(const OpCall& call) {
  Problem p;
  if (!read_heads(call.shape(kX), call.node.int_attr("num_heads", 0), p.x))
    return bad_shape(call, kX);
  const int64_t given = call.node.int_attr("rotary_embedding_dim", 0);
  const int64_t turned = given == 0 ? p.x.size : given;
  if (turned < 2 || turned % 2 != 0 || turned > p.x.size)
    return bad_attribute(call, "rotary_embedding_dim", given);
  p.pairs = turned / 2;
  const Shape& cosines = call.shape(kCos);
  if (call.shape(kSin) != cosines) return misfit(call, kCos, kSin);
  const bool by_position = call.has(kPositions);
  if (by_position && call.type(kPositions).dtype != DType::kI64) return bad_type(call, kPositions);
  if (by_position ? cosines.size() != 2 || cosines[1] != p.pairs
                  : cosines != Shape{p.x.batch, p.x.length, p.pairs})
    return misfit(call, kX, kCos);
  if (by_position && call.shape(kPositions) != Shape{p.x.batch, p.x.length})
    return misfit(call, kX, kPositions);
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(problem_of(call));
  return infer_same(call);
}

template <class T>
void turn(const T* x, const T* cosines, const T* sines, const Problem& p, bool interleaved, T* y) {
  for (int64_t i = 0; i < p.pairs; ++i) {
    const int64_t one = interleaved ? 2 * i : i, other = interleaved ? 2 * i + 1 : i + p.pairs;
    y[one] = cosines[i] * x[one] - sines[i] * x[other];
    y[other] = sines[i] * x[one] + cosines[i] * x[other];
  }
  for (int64_t i = 2 * p.pairs; i < p.x.size; ++i) y[i] = x[i];
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  std::vector<int64_t> rows;
  if (call.has(kPositions)) {
    CLVET_ASSIGN_OR_RETURN(rows, call.integers(kPositions));
    for (const int64_t row : rows) {
      if (row < 0 || row >= call.shape(kCos)[0]) return index_outside(call);
    }
  }
  const bool interleaved = call.node.int_attr("interleaved", 0) != 0;
  return visit_floats(call.type(kX).dtype, [&]<class T>() {
    for (int64_t b = 0; b < p.x.batch; ++b) {
      for (int64_t s = 0; s < p.x.length; ++s) {
        const int64_t place = b * p.x.length + s;
        const int64_t angle = (rows.empty() ? place : rows[static_cast<size_t>(place)]) * p.pairs;
        for (int64_t h = 0; h < p.x.heads; ++h) {
          const int64_t at = p.x.at(b, h, s);
          turn(call.tensor(kX).data<T>() + at, call.tensor(kCos).data<T>() + angle,
               call.tensor(kSin).data<T>() + angle, p, interleaved, outputs[0].data<T>() + at);
        }
      }
    }
  });
}

// The cosines or sines of all places: [batch, length, 1, pairs].
Term angles(Steps& s, const Problem& p, size_t input) {
  const Shape shape{p.x.batch, p.x.length, 1, p.pairs};
  if (!s.call().has(kPositions)) return s.reshaped(s.input(input), shape);
  const int64_t rows = s.call().shape(kCos)[0];
  return picked(s, s.input(input), numbers_inside(s, s.input(kPositions), rows, false), shape);
}

// Two halves of a head, or their elements in turn, and what is not turned.
std::vector<Term> halves(Steps& s, const Term& x, const Problem& p, bool interleaved) {
  const int64_t rest = p.x.size - 2 * p.pairs;
  std::vector<int64_t> extents =
      interleaved ? std::vector<int64_t>{2 * p.pairs} : std::vector<int64_t>{p.pairs, p.pairs};
  if (rest > 0) extents.push_back(rest);
  std::vector<Term> parts = extents.size() == 1 ? std::vector<Term>{x} : s.cut(x, extents);
  if (!interleaved) return parts;
  const Shape half{p.x.batch, p.x.length, p.x.heads, p.pairs};
  const auto two =
      s.cut(s.reshaped(parts[0], {p.x.batch, p.x.length, p.x.heads, p.pairs, 2}), {1, 1});
  std::vector<Term> all{s.reshaped(two[0], half), s.reshaped(two[1], half)};
  if (rest > 0) all.push_back(parts[1]);
  return all;
}

Term joined(Steps& s, std::vector<Term> parts, const Problem& p, bool interleaved) {
  if (interleaved) {
    const Shape one{p.x.batch, p.x.length, p.x.heads, p.pairs, 1};
    const Term pairs = s.one("Concat", {s.reshaped(parts[0], one), s.reshaped(parts[1], one)},
                             {{"axis", int64_t{4}}});
    parts[0] = s.reshaped(pairs, {p.x.batch, p.x.length, p.x.heads, 2 * p.pairs});
    parts.erase(parts.begin() + 1);
  }
  return parts.size() == 1 ? parts[0] : s.one("Concat", parts, {{"axis", int64_t{-1}}});
}

std::vector<Term> steps(Steps& s) {
  const auto p = problem_of(s.call());
  if (!p || elements_of(s.call().shape(kX)) == 0) return {};
  const bool interleaved = s.call().node.int_attr("interleaved", 0) != 0;
  const Shape by_place{p->x.batch, p->x.length, p->x.heads, p->x.size};
  const Term x =
      p->x.flat ? s.reshaped(s.input(kX), by_place) : s.transposed(s.input(kX), {0, 2, 1, 3});
  const Term cosines = angles(s, *p, kCos), sines = angles(s, *p, kSin);
  std::vector<Term> parts = halves(s, x, *p, interleaved);
  if (!s.ok()) return {};
  const Term a = parts[0], b = parts[1];
  parts[0] = s.one("Sub", {s.one("Mul", {a, cosines}), s.one("Mul", {b, sines})});
  parts[1] = s.one("Add", {s.one("Mul", {a, sines}), s.one("Mul", {b, cosines})});
  const Term y = joined(s, std::move(parts), *p, interleaved);
  return {p->x.flat ? s.reshaped(y, s.call().shape(kX)) : s.transposed(y, {0, 2, 1, 3})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"RotaryEmbedding"},
    .since = 23,
    .inputs = "T T T *?",
    .attributes = "interleaved:i num_heads:i rotary_embedding_dim:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_rotary_embedding
