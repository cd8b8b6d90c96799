// RandomNormal, RandomNormalLike, RandomUniform, RandomUniformLike.
//
// A run gives the same numbers as the one before: they follow from the node's `seed`, or from its
// name where it has none.
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_random {
namespace {

uint64_t seed_of(const Node& node) {
  if (const auto given = node.attributes.find("seed"); given != node.attributes.end())
    return std::bit_cast<uint64_t>(node.float_attr("seed", 0));
  return std::stoull(sha256_hex(node.name).substr(0, 16), nullptr, 16);
}

// Number `i` of a sequence, in (0, 1).
double uniform(uint64_t seed, uint64_t i) {
  return (static_cast<double>(random_bits(seed, i) >> 11) + 0.5) * 0x1p-53;
}

// By G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates" (1958).
double normal(uint64_t seed, uint64_t i) {
  const double radius = std::sqrt(-2 * std::log(uniform(seed, 2 * i)));
  return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * i + 1));
}

Result<Types> infer(const OpCall& call) {
  const bool like = call.node.op.ends_with("Like");
  if (like && !call.has(0))
    return fail(ErrorCode::kInvalidArgument, "{} takes one input", call.node.op);
  if (!like && call.has(0))
    return fail(ErrorCode::kInvalidArgument, "{} takes no input", call.node.op);
  const DType fallback = like && is_float(call.type(0).dtype) ? call.type(0).dtype : DType::kF32;
  CLVET_ASSIGN_OR_RETURN(const DType dtype, type_attribute(call, "dtype", fallback));
  if (!is_float(dtype))
    return fail(ErrorCode::kInvalidArgument, "dtype must be a float type, not {}",
                to_string(dtype));
  if (like) return Types{{dtype, call.shape(0)}};
  const std::vector<int64_t>* shape = call.node.ints_attr("shape");
  if (!shape)
    return fail(ErrorCode::kInvalidArgument, "{} needs the attribute 'shape'", call.node.op);
  return Types{{dtype, *shape}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Node& node = call.node;
  const bool is_normal = node.op.starts_with("RandomNormal");
  const double low = node.float_attr("low", 0), high = node.float_attr("high", 1);
  const double mean = node.float_attr("mean", 0), scale = node.float_attr("scale", 1);
  const uint64_t seed = seed_of(node);
  CLVET_ASSIGN_OR_RETURN(Tensor numbers, Tensor::create(DType::kF64, outputs[0].shape()));
  for (int64_t i = 0; i < numbers.elements(); ++i) {
    const auto at = static_cast<uint64_t>(i);
    numbers.data<double>()[i] =
        is_normal ? mean + scale * normal(seed, at) : low + (high - low) * uniform(seed, at);
  }
  CLVET_ASSIGN_OR_RETURN(outputs[0], numbers.cast(outputs[0].dtype()));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"},
    .inputs = "*?",
    .attributes = "dtype:i high:f low:f mean:f scale:f seed:f shape:I",
    .moves_elements = true,
    .needs_values = false,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_random
