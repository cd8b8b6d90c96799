#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_rope {
namespace {

// A row of x holds H query heads, KV key heads and KV value heads of D values each. Row m is at
// position P + m: with angles cosines[P + m, i] and sines[P + m, i], the pair (a, b) of a query or
// key head becomes (a cos - b sin, b cos + a sin). Pair i is (2i, 2i + 1), or with halves = 1
// (i, i + D / 2). With norm = 1 each query and key head is first divided by the root of its mean
// square (plus epsilon) and multiplied by q_scale or k_scale. Queries go to y [M, H * D], keys and
// values as they are to rows P and on of the caches k and v [cap, KV * D], whose other rows are
// left alone. In float at every precision; D is a multiple of 8.
struct Heads {
  int64_t m, h, kv, d, cap, p;
  bool halves, norm;
  explicit Heads(const Dims& dims)
      : m(dim(dims, "M")),
        h(dim(dims, "H")),
        kv(dim(dims, "KV")),
        d(dim(dims, "D")),
        cap(dim(dims, "cap")),
        p(dim_or(dims, "P", 0)),
        halves(dim_or(dims, "halves", 0) == 1),
        norm(dim_or(dims, "norm", 0) == 1) {}
};

Status check_extents(const Heads& at) {
  if (at.d % 8 != 0) {
    return fail(ErrorCode::kInvalidArgument, "rope: D = {} is not a multiple of 8", at.d);
  }
  if (at.p < 0 || at.p > at.cap - at.m) {
    return fail(ErrorCode::kInvalidArgument, "rope: rows {} to {} must lie in the cache of {} rows",
                at.p, at.p + at.m, at.cap);
  }
  return {};
}

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"M", "H", "KV", "D", "cap"};
  CLVET_RETURN_IF_ERROR(need_positive("rope", dims, names));
  const Heads at(dims);
  CLVET_RETURN_IF_ERROR(check_extents(at));
  const auto rows = [](const char* name, TensorKind kind, int64_t h, int64_t c) {
    return TensorRole{.name = name, .kind = kind, .h = h, .c = c};
  };
  const auto vector = [](const char* name, int64_t c) {
    return TensorRole{.name = name, .kind = TensorKind::kVector, .c = c};
  };
  return std::vector<TensorRole>{rows("x", TensorKind::kInput, at.m, (at.h + 2 * at.kv) * at.d),
                                 vector("cosines", at.cap * at.d / 2),
                                 vector("sines", at.cap * at.d / 2),
                                 vector("q_scale", at.d),
                                 vector("k_scale", at.d),
                                 rows("y", TensorKind::kOutput, at.m, at.h * at.d),
                                 rows("k", TensorKind::kOutput, at.cap, at.kv * at.d),
                                 rows("v", TensorKind::kOutput, at.cap, at.kv * at.d)};
}

// One head of one row as it is stored.
struct Turned {
  Values value, functions, sensitivity;
};

// What the values of a head are multiplied by before they turn.
Values factors(const CallValues& values, const Heads& at, std::span<const double> head,
               const Values& scale) {
  if (!at.norm) return Values(head.size(), 1);
  const double epsilon = static_cast<float>(values.scalars.find("epsilon")->second);
  const double factor = rms_factor(head, epsilon);
  Values result(scale);
  for (double& value : result) value *= factor;
  return result;
}

// As in rms_norm; two products and a sum come on top.
double roundoffs_of(const Heads& at) {
  return (at.norm ? roundoffs_of_rms(static_cast<double>(at.d)) : 0) + 4;
}

Turned turned(const CallValues& values, const Heads& at, int64_t row, std::span<const double> head,
              const Values& scale) {
  const Values& cosines = values.tensors.find("cosines")->second;
  const Values& sines = values.tensors.find("sines")->second;
  const Values factor = factors(values, at, head, scale);
  const double roundoffs = roundoffs_of(at);
  Turned out{Values(head.size()), Values(head.size()), Values(head.size())};
  for (int64_t i = 0; i < at.d / 2; ++i) {
    const auto first = static_cast<size_t>(at.halves ? i : 2 * i);
    const auto second = static_cast<size_t>(at.halves ? i + at.d / 2 : 2 * i + 1);
    const auto angle = static_cast<size_t>((at.p + row) * at.d / 2 + i);
    const double c = cosines[angle], s = sines[angle];
    const double left = factor[first], right = factor[second];
    const double a = head[first] * left, b = head[second] * right;
    out.value[first] = a * c - b * s;
    out.value[second] = b * c + a * s;
    out.functions[first] = (std::fabs(a * c) + std::fabs(b * s)) * roundoffs;
    out.functions[second] = (std::fabs(b * c) + std::fabs(a * s)) * roundoffs;
    out.sensitivity[first] = std::fabs(left * c) + std::fabs(right * s);
    out.sensitivity[second] = std::fabs(right * c) + std::fabs(left * s);
  }
  return out;
}

void append(Values& to, const Values& from) { to.insert(to.end(), from.begin(), from.end()); }

void add(const Turned& head, ReferenceResult& result) {
  append(result.value, head.value);
  append(result.functions, head.functions);
  append(result.sensitivity, head.sensitivity);
  result.untouched.insert(result.untouched.end(), head.value.size(), false);
}

void leave_rows(int64_t rows, int64_t width, ReferenceResult& result) {
  const auto count = static_cast<size_t>(rows * width);
  for (Values* part : {&result.value, &result.functions, &result.sensitivity}) {
    part->insert(part->end(), count, 0.0);
  }
  result.untouched.insert(result.untouched.end(), count, true);
}

std::span<const double> head_of(const CallValues& values, const Heads& at, int64_t row,
                                int64_t head) {
  const Values& x = values.tensors.find("x")->second;
  const int64_t first = (row * (at.h + 2 * at.kv) + head) * at.d;
  return std::span(x).subspan(static_cast<size_t>(first), static_cast<size_t>(at.d));
}

void add_queries(const CallValues& values, const Heads& at, ReferenceResult& result) {
  const Values& scale = values.tensors.find("q_scale")->second;
  for (int64_t row = 0; row < at.m; ++row) {
    for (int64_t head = 0; head < at.h; ++head) {
      add(turned(values, at, row, head_of(values, at, row, head), scale), result);
    }
  }
}

Turned as_it_is(std::span<const double> head) {
  return {Values(head.begin(), head.end()), Values(head.size(), 0), Values(head.size(), 1)};
}

void add_cache(const CallValues& values, const Heads& at, bool keys, ReferenceResult& result) {
  const Values& scale = values.tensors.find("k_scale")->second;
  const int64_t first = keys ? at.h : at.h + at.kv;
  leave_rows(at.p, at.kv * at.d, result);
  for (int64_t row = 0; row < at.m; ++row) {
    for (int64_t head = first; head < first + at.kv; ++head) {
      const auto own = head_of(values, at, row, head);
      add(keys ? turned(values, at, row, own, scale) : as_it_is(own), result);
    }
  }
  leave_rows(at.cap - at.p - at.m, at.kv * at.d, result);
}

ReferenceResult reference(const CallValues& values) {
  const Heads at(values.dims);
  ReferenceResult result;
  result.in_float = true;
  add_queries(values, at, result);
  add_cache(values, at, true, result);
  add_cache(values, at, false, result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"rope", roles, reference};

}  // namespace clvet::op_contract_rope
