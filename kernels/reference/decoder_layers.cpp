#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/act_table.h"
#include "kernels/contract.h"
#include "kernels/reference/attention_heads.h"
#include "kernels/reference/rough.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_decoder_layers {
namespace {

// Of the L layers of a decoder those from `first` on, `count` of them, one behind the other, for
// one token at position P. A layer makes of the residual stream x[C]
//   qkv       = rms_norm(x, attn_scale) * w_qkv (+ bias, where biased = 1)
//   attended  = attention_rope of qkv, over the layer's caches k and v, whose row P it writes
//   between   = x + attended * w_o
//   gated     = act(g) * u, where g and u are the halves of
//               rms_norm(between, ffn_scale) * w_gate_up
//   y         = between + gated * w_down
// of which y is the next layer's x. The outputs are the last layer's, and the caches. Matrices,
// scales, biases and caches of all L layers lie one behind the other. In float, with float32
// between the stages: of precision high alone. F and C are multiples of 32. A stage may multiply
// what another made without its last bit, but sums keep it: groups of a launch that wait for each
// other have that bit for whether a value is there. `state` is theirs: 16 words, then qkv, kParts
// parts of attended and a weight of each part of a head, between, gated and y as they hand them on.
// Where they did not all run at once, y has NaN among its values, and so has that of each launch
// behind.
constexpr int64_t kParts = 4;

struct Shape {
  int64_t layers, first, count, c, f, h, kv, d, cap;
  bool biased;
  explicit Shape(const Dims& dims)
      : layers(dim(dims, "L")),
        first(dim_or(dims, "first", 0)),
        count(dim(dims, "count")),
        c(dim(dims, "C")),
        f(dim(dims, "F")),
        h(dim(dims, "H")),
        kv(dim(dims, "KV")),
        d(dim(dims, "D")),
        cap(dim(dims, "cap")),
        biased(dim_or(dims, "biased", 0) == 1) {}
  int64_t columns() const { return (h + 2 * kv) * d; }
  int64_t asked() const { return h * d; }
  int64_t cache() const { return cap * kv * d; }
  int64_t state() const { return 16 + columns() + kParts * (asked() + h) + c + f + c; }
};

Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"L", "count", "C", "F"};
  CLVET_RETURN_IF_ERROR(need_positive("decoder_layers", dims, names));
  CLVET_ASSIGN_OR_RETURN(const auto heads,
                         find_op_contract("attention_rope")->roles(without_norms(dims)));
  const Shape at(dims);
  if (at.first < 0 || at.first > at.layers - at.count) {
    return fail(ErrorCode::kInvalidArgument,
                "decoder_layers: layers {} to {} must be among the {} that there are", at.first,
                at.first + at.count, at.layers);
  }
  if (at.c % 32 != 0 || at.f % 32 != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "decoder_layers: C = {} and F = {} must be multiples of 32", at.c, at.f);
  }
  const auto row = [](const char* name, TensorKind kind, int64_t columns) {
    return TensorRole{.name = name, .kind = kind, .c = columns};
  };
  const auto cache = [&](const char* name, TensorKind kind) {
    return TensorRole{.name = name, .kind = kind, .n = at.layers, .h = at.cap, .c = at.kv * at.d};
  };
  const auto matrix = [&](const char* name, int64_t from, int64_t to) {
    return TensorRole{
        .name = name, .kind = TensorKind::kWeights, .n = at.layers, .cin = from, .cout = to};
  };
  std::vector<TensorRole> roles = {row("x", TensorKind::kInput, at.c),
                                   cache("k", TensorKind::kInput), cache("v", TensorKind::kInput)};
  for (const TensorRole& role : heads) {
    if (role.name == "cosines" || role.name == "sines") roles.push_back(role);
  }
  for (const char* name : {"attn_scale", "ffn_scale"})
    roles.push_back(row(name, TensorKind::kVector, at.layers * at.c));
  roles.push_back(row("bias", TensorKind::kVector, at.layers * at.columns()));
  roles.push_back(matrix("w_qkv", at.c, at.columns()));
  roles.push_back(matrix("w_o", at.asked(), at.c));
  roles.push_back(matrix("w_gate_up", at.c, 2 * at.f));
  roles.push_back(matrix("w_down", at.f, at.c));
  roles.push_back(row("state", TensorKind::kState, at.state()));
  roles.push_back(row("y", TensorKind::kOutput, at.c));
  roles.push_back(row("qkv", TensorKind::kOutput, at.columns()));
  roles.push_back(row("attended", TensorKind::kOutput, at.asked()));
  roles.push_back(row("between", TensorKind::kOutput, at.c));
  roles.push_back(row("gated", TensorKind::kOutput, at.f));
  roles.push_back(cache("new_k", TensorKind::kOutput));
  roles.push_back(cache("new_v", TensorKind::kOutput));
  return roles;
}

Rough sum_of(const Rough& a, const Rough& b) {
  Rough made = a;
  for (size_t i = 0; i < a.value.size(); ++i) {
    made.value[i] += b.value[i];
    made.error[i] = std::hypot(a.error[i], b.error[i]) + std::fabs(made.value[i]);
  }
  return made;
}

// What a stage has of another's floats, without their last bit: two roundoffs at most.
Rough handed_on(Rough row) {
  for (size_t i = 0; i < row.value.size(); ++i) row.error[i] += 2 * std::fabs(row.value[i]);
  return row;
}

// act(g) * u of the halves of `row`.
Rough gated(const Rough& row, const Epilogue& act) {
  const size_t half = row.value.size() / 2;
  Rough made{Values(half), Values(half)};
  for (size_t i = 0; i < half; ++i) {
    const double g = row.value[i], u = row.value[half + i];
    const double spread = std::ldexp(row.error[i], -24);
    const double y = apply_act(act.act, act.lo, act.hi, g);
    const double of_act =
        act_row(act.act).error(g, act.lo, act.hi) + act_sensitivity(act, g, spread) * row.error[i];
    made.value[i] = y * u;
    made.error[i] =
        std::fabs(u) * of_act + std::fabs(y) * row.error[half + i] + 3 * std::fabs(made.value[i]);
  }
  return made;
}

struct Stream {
  Rough x, qkv, attended, between, gated;
};

class Layers {
 public:
  Layers(const CallValues& values, const Shape& at)
      : values_(values),
        at_(at),
        epsilon_(static_cast<float>(values.scalars.find("epsilon")->second)) {}

  // `caches` is the reference of new_k and new_v of all layers.
  void run(int64_t layer, Stream& stream, ReferenceResult& caches) const {
    const double of_norm = roundoffs_of_rms(static_cast<double>(at_.c));
    const double* bias = at_.biased ? part("bias", layer, at_.columns()) : nullptr;
    const Normed x = normed(handed_on(stream.x), part("attn_scale", layer, at_.c), epsilon_);
    stream.qkv = product(x.row, part("w_qkv", layer, at_.c * at_.columns()),
                         static_cast<size_t>(at_.columns()), bias, of_norm + x.moved);
    stream.attended = attended(layer, handed_on(stream.qkv), caches);
    stream.between =
        sum_of(stream.x, multiplied(handed_on(stream.attended), "w_o", layer, at_.c, 0));
    const Normed row = normed(handed_on(stream.between), part("ffn_scale", layer, at_.c), epsilon_);
    stream.gated = gated(multiplied(row.row, "w_gate_up", layer, 2 * at_.f, of_norm + row.moved),
                         epilogue_of(values_));
    stream.x =
        sum_of(stream.between, multiplied(handed_on(stream.gated), "w_down", layer, at_.c, 0));
  }

 private:
  const double* part(const char* name, int64_t layer, int64_t size) const {
    return values_.tensors.find(name)->second.data() + layer * size;
  }
  Rough multiplied(const Rough& x, const char* name, int64_t layer, int64_t n,
                   double of_factor) const {
    const auto rows = static_cast<int64_t>(x.value.size());
    return product(x, part(name, layer, rows * n), static_cast<size_t>(n), nullptr, of_factor);
  }

  Rough attended(int64_t layer, const Rough& heads, ReferenceResult& caches) const {
    CallValues call{values_.dims, values_.scalars, {}};
    for (const char* name : {"cosines", "sines"})
      call.tensors[name] = values_.tensors.find(name)->second;
    for (const char* name : {"k", "v"}) {
      const double* cache = part(name, layer, at_.cache());
      call.tensors[name] = Values(cache, cache + at_.cache());
    }
    const ReferenceResult made = attend_heads(call, heads);
    for (int64_t which = 0; which < 2; ++which) {
      const int64_t from = at_.asked() + which * at_.cache();
      const int64_t to = (which * at_.layers + layer) * at_.cache();
      std::copy_n(made.value.begin() + from, at_.cache(), caches.value.begin() + to);
      std::copy_n(made.functions.begin() + from, at_.cache(), caches.functions.begin() + to);
      std::copy_n(made.untouched.begin() + from, at_.cache(), caches.untouched.begin() + to);
    }
    const auto asked = static_cast<ptrdiff_t>(at_.asked());
    Rough y{Values(made.value.begin(), made.value.begin() + asked),
            Values(made.functions.begin(), made.functions.begin() + asked)};
    for (size_t i = 0; i < y.value.size(); ++i) y.error[i] += std::fabs(y.value[i]);
    return y;
  }

  const CallValues& values_;
  const Shape& at_;
  double epsilon_;
};

void append(const Rough& row, ReferenceResult& to) {
  to.value.insert(to.value.end(), row.value.begin(), row.value.end());
  to.functions.insert(to.functions.end(), row.error.begin(), row.error.end());
  to.untouched.resize(to.value.size(), false);
}

ReferenceResult reference(const CallValues& values) {
  const Shape at(values.dims);
  const auto all = static_cast<size_t>(2 * at.layers * at.cache());
  ReferenceResult caches;
  caches.value.assign(all, 0);
  caches.functions.assign(all, 0);
  caches.untouched.assign(all, true);
  const Values& x = values.tensors.find("x")->second;
  Stream stream{{x, Values(x.size(), 0)}, {}, {}, {}, {}};
  const Layers layers(values, at);
  for (int64_t i = 0; i < at.count; ++i) layers.run(at.first + i, stream, caches);
  ReferenceResult result;
  result.in_float = true;
  for (const Rough* row :
       {&stream.x, &stream.qkv, &stream.attended, &stream.between, &stream.gated})
    append(*row, result);
  append({caches.value, caches.functions}, result);
  std::copy(caches.untouched.begin(), caches.untouched.end(),
            result.untouched.end() - static_cast<ptrdiff_t>(all));
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"decoder_layers", roles, reference};

}  // namespace clvet::op_contract_decoder_layers
