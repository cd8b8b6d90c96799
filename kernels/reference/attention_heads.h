// attention_rope (attention_rope.cpp) of a row of heads that has errors of its own: what the ops
// share that compute the row, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/attention_scores.h"
#include "kernels/reference/rough.h"

namespace clvet {

struct HeadsShape {
  int64_t h, kv, d, p, window;
  bool halves;
  explicit HeadsShape(const Dims& dims)
      : h(dim(dims, "H")),
        kv(dim(dims, "KV")),
        d(dim(dims, "D")),
        p(dim_or(dims, "P", 0)),
        window(dim_or(dims, "window", 0)),
        halves(dim_or(dims, "halves", 0) == 1) {}
};

// Dims of a call whose heads have no norms of their own.
inline Dims without_norms(Dims dims) {
  dims["norm"] = 0;
  return dims;
}

// What errors of the heads of queries and keys become as these turn.
inline void turn_errors(const CallValues& values, const HeadsShape& at, Rough& heads) {
  const Values& cosines = values.tensors.find("cosines")->second;
  const Values& sines = values.tensors.find("sines")->second;
  for (int64_t head = 0; head < at.h + at.kv; ++head) {
    double* error = heads.error.data() + head * at.d;
    for (int64_t i = 0; i < at.d / 2; ++i) {
      const int64_t first = at.halves ? i : 2 * i;
      const int64_t second = at.halves ? i + at.d / 2 : 2 * i + 1;
      const auto angle = static_cast<size_t>(at.p * at.d / 2 + i);
      const double c = std::fabs(cosines[angle]), s = std::fabs(sines[angle]);
      const double a = error[first], b = error[second];
      error[first] = a * c + b * s;
      error[second] = b * c + a * s;
    }
  }
}

// One query head and the errors of what it has to do with: its own, and of the token's key and
// value.
struct Asked {
  std::span<const double> q, q_error, k_error, v_error;
};

// How far these move an element of y: an error of score j by p[j] * (v[j] - y) of it, the value's
// by its weight.
inline Values moves(const Asked& asked, const Seen& seen, double scale, std::span<const double> y) {
  const std::vector<Score> scores = scores_of(asked.q, seen, scale);
  const Values weights = softmax(scores, largest_of(scores));
  Values moved(y.size(), 0);
  for (int64_t j = 0; j < seen.count; ++j) {
    const double *k = seen.k + j * seen.pitch, *v = seen.v + j * seen.pitch;
    const bool own = j == seen.count - 1;
    double error = 0;
    for (size_t i = 0; i < asked.q.size(); ++i) {
      error += asked.q_error[i] * std::fabs(k[i]);
      if (own) error += std::fabs(asked.q[i]) * asked.k_error[i];
    }
    const double weight = weights[static_cast<size_t>(j)];
    for (size_t c = 0; c < y.size(); ++c) {
      moved[c] += weight * std::fabs(v[c] - y[c]) * error * std::fabs(scale);
      if (own) moved[c] += weight * asked.v_error[c];
    }
  }
  return moved;
}

// A call of a part: as `values`, with x the row of heads and no norm.
inline CallValues of_heads(const CallValues& values, const HeadsShape& at, const Values& heads) {
  CallValues call = values;
  call.dims = without_norms(std::move(call.dims));
  call.dims["M"] = 1;
  call.tensors["x"] = heads;
  for (const char* scale : {"q_scale", "k_scale"}) {
    call.tensors[scale] = Values(static_cast<size_t>(at.d), 0);
  }
  return call;
}

// `result` has y and the caches with the token's row, of heads without an error.
inline void add_errors_of_heads(const CallValues& values, const HeadsShape& at, const Rough& heads,
                                const Values& queries, ReferenceResult& result) {
  const auto d = static_cast<size_t>(at.d), width = static_cast<size_t>(at.kv * at.d);
  const auto cache = static_cast<size_t>(dim(values.dims, "cap")) * width;
  const auto asked = static_cast<size_t>(at.h * at.d), row = static_cast<size_t>(at.p) * width;
  const double* errors = heads.error.data();
  for (size_t i = 0; i < width; ++i) {
    result.functions[asked + row + i] += errors[asked + i];
    result.functions[asked + cache + row + i] += errors[asked + width + i];
  }
  // Rows that keep what they held stand in the caches that are read.
  Values keys = values.tensors.find("k")->second, cached = values.tensors.find("v")->second;
  std::copy_n(result.value.data() + asked + row, width, keys.data() + row);
  std::copy_n(result.value.data() + asked + cache + row, width, cached.data() + row);
  const int64_t first = at.window > 0 ? std::max<int64_t>(0, at.p - at.window + 1) : 0;
  const double scale = static_cast<float>(values.scalars.find("scale")->second);
  for (size_t h = 0; h < static_cast<size_t>(at.h); ++h) {
    const size_t own = h * d, kv = h / static_cast<size_t>(at.h / at.kv) * d;
    const size_t start = static_cast<size_t>(first) * width + kv;
    const Asked head{{queries.data() + own, d},
                     {errors + own, d},
                     {errors + asked + kv, d},
                     {errors + asked + width + kv, d}};
    const Seen seen{keys.data() + start, cached.data() + start, at.p + 1 - first, at.kv * at.d};
    const Values moved = moves(head, seen, scale, {result.value.data() + own, d});
    for (size_t c = 0; c < d; ++c) result.functions[own + c] += moved[c];
  }
}

// Its outputs: `values` has the caches k and v, the angles and the scalars; heads have no norm.
inline ReferenceResult attend_heads(const CallValues& values, Rough heads) {
  const HeadsShape at(values.dims);
  const CallValues call = of_heads(values, at, heads.value);
  ReferenceResult result = find_op_contract("attention_rope")->reference(call);
  const Values queries = find_op_contract("rope")->reference(call).value;
  turn_errors(values, at, heads);
  add_errors_of_heads(values, at, heads, queries, result);
  return result;
}

}  // namespace clvet
