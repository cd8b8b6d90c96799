// RotaryEmbedding of ONNX: pairs of a head's elements turned by the angles of its position.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/heads.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

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

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"RotaryEmbedding"},
    .since = 23,
    .inputs = "T T T *?",
    .attributes = "interleaved:i num_heads:i rotary_embedding_dim:i",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_rotary_embedding
