// EmbedLayerNormalization of com.microsoft: rows for words, positions and segments summed, then
// normalised.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_embed_layer_normalization {
namespace {

enum Input : size_t { kIds, kSegments, kWord, kPosition, kSegment, kGamma, kBeta, kMask, kPlaces };
constexpr double kEpsilon = 1e-12;

bool check_shapes(Steps& s) {
  const OpCall& call = s.call();
  const Shape& ids = call.shape(kIds);
  if (ids.size() != 2) s.refuse(bad_shape(call, kIds));
  if (call.has(kSegments) != call.has(kSegment))
    s.refuse(missing_input(call, call.has(kSegments) ? kSegment : kSegments));
  for (const size_t i : {kWord, kPosition, kSegment}) {
    if (!call.has(i)) continue;
    if (call.shape(i).size() != 2) s.refuse(bad_shape(call, i));
    if (call.shape(i).back() != call.shape(kWord).back()) s.refuse(misfit(call, kWord, i));
    if (!s.ok()) return false;
  }
  for (const size_t i : {kGamma, kBeta}) {
    if (call.shape(i) != Shape{call.shape(kWord).back()}) s.refuse(misfit(call, kWord, i));
  }
  for (const size_t i : {kSegments, kMask, kPlaces}) {
    if (!call.has(i) || call.shape(i) == ids) continue;
    const bool shared = i == kPlaces && ids.size() == 2 && call.shape(i) == Shape{1, ids[1]};
    if (!shared) s.refuse(misfit(call, kIds, i));
  }
  return s.ok();
}

// Of this operator no index counts from the end.
Term rows(Steps& s, size_t table, const Term& ids) {
  if (ids.known) {
    const std::vector<int64_t> values = ids.value.to_i64();
    if (std::any_of(values.begin(), values.end(), [](int64_t id) { return id < 0; })) {
      s.refuse(index_outside(s.call()));
      return no_term();
    }
  }
  return s.one("Gather", {s.input(table), ids});
}

// How many words of each sentence the mask has; 0 without one.
Term lengths(Steps& s) {
  const int64_t batch = s.call().shape(kIds)[0];
  if (!s.call().has(kMask)) return constant_term(Tensor::from({batch}, std::span<const int32_t>()));
  const Term one = constant_term(Tensor::scalar<int32_t>(1));
  const Term hits =
      s.one("Cast", {s.one("Equal", {s.input(kMask), one})}, {{"to", onnx_of_dtype(DType::kI32)}});
  const Term axis = constant_term(Tensor::of<int64_t>({1}, {1}));
  return s.one("ReduceSum", {hits, axis}, {{"keepdims", int64_t{0}}});
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  if (!check_shapes(s)) return {};
  const int64_t length = call.shape(kIds)[1];
  Term places = s.input(kPlaces);
  if (!call.has(kPlaces)) {
    if (length > call.shape(kPosition)[0]) return s.refuse(misfit(call, kIds, kPosition));
    std::vector<int32_t> each(static_cast<size_t>(length));
    std::iota(each.begin(), each.end(), 0);
    places = constant_term(Tensor::from({length}, std::span<const int32_t>(each)));
  }
  Term sum = s.one("Add", {rows(s, kWord, s.input(kIds)), rows(s, kPosition, places)});
  if (call.has(kSegments)) sum = s.one("Add", {sum, rows(s, kSegment, s.input(kSegments))});
  const Term y =
      s.one("LayerNormalization", {sum, s.input(kGamma), s.input(kBeta)},
            {{"axis", int64_t{-1}}, {"epsilon", call.node.float_attr("epsilon", kEpsilon)}});
  return {y, lengths(s), sum};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"EmbedLayerNormalization"},
    .domain = kMicrosoft,
    .inputs = "* *? T T T? T T *? *?",
    .types = "s",
    .attributes = "epsilon:f mask_index_type:i",
    .max_outputs = 3,
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
};

}  // namespace clvet::op_embed_layer_normalization
