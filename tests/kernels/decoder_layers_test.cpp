// The layers of a decoder as one operation, beside the operations that they are made of.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/op_trials.h"
#include "kernels/tolerance.h"

namespace clvet {
namespace {

using Tensors = std::map<std::string, Values, std::less<>>;

constexpr const char* kOp = "decoder_layers";

std::vector<TestShape> shapes() {
  const std::string path = "reference/" + std::string(kOp) + ".json";
  const auto trials = parse_op_trials(path, kernel_text(path).value_or(""));
  return trials ? trials->tests : std::vector<TestShape>{};
}

std::vector<TensorRole> roles_of(const std::string& op, const Dims& dims) {
  auto roles = find_op_contract(op)->roles(dims);
  EXPECT_TRUE(roles) << roles.error().message;
  return std::move(*roles);
}

Values random_values(std::mt19937& random, int64_t count) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Values values(static_cast<size_t>(count));
  for (double& value : values) value = static_cast<float>(uniform(random));
  return values;
}

CallValues call_of(const TestShape& shape) {
  std::mt19937 random(1);
  CallValues call{shape.dims, shape.scalars, {}};
  for (const TensorRole& role : roles_of(kOp, shape.dims)) {
    const bool state = role.kind == TensorKind::kState;
    if (role.kind == TensorKind::kOutput) continue;
    call.tensors[role.name] =
        state ? Values(static_cast<size_t>(role.c), 0) : random_values(random, role.elements());
  }
  return call;
}

ReferenceResult reference(const std::string& op, const CallValues& call) {
  return find_op_contract(op)->reference(call);
}

// The outputs of a call by their names.
Tensors outputs_of(const std::string& op, const Dims& dims, const Values& values) {
  Tensors outputs;
  auto from = values.begin();
  for (const TensorRole& role : roles_of(op, dims)) {
    if (role.kind != TensorKind::kOutput) continue;
    outputs[role.name] = Values(from, from + role.elements());
    from += role.elements();
  }
  return outputs;
}

// Row P of one layer of a cache.
struct Row {
  int64_t first, width;
  Row(const Dims& dims, int64_t layer)
      : first((layer * dims.at("cap") + dims.at("P")) * dims.at("KV") * dims.at("D")),
        width(dims.at("KV") * dims.at("D")) {}
};

void copy_row(const Values& from, const Row& row, Values& to) {
  std::copy_n(from.begin() + row.first, row.width, to.begin() + row.first);
}

// The layers one behind the other as calls of attention_qkv and gemv_fused, each output rounded to
// float.
class Chain {
 public:
  explicit Chain(const CallValues& call) : call_(call), dims_(call.dims) {
    made_["y"] = call.tensors.at("x");
    for (const char* cache : {"k", "v"})
      made_["new_" + std::string(cache)] = call.tensors.at(cache);
    for (int64_t i = 0; i < at("count"); ++i) add_layer(at("first") + i);
  }
  const Values& output(std::string_view name) const { return made_.find(name)->second; }

 private:
  int64_t at(const char* name) const { return dims_.at(name); }

  Values part(const char* name, int64_t layer) const {
    const Values& all = call_.tensors.at(name);
    const auto size = static_cast<ptrdiff_t>(all.size()) / at("L");
    return {all.begin() + layer * size, all.begin() + (layer + 1) * size};
  }

  Tensors run(const std::string& op, const Dims& dims, const Tensors& tensors) const {
    Values values = reference(op, {dims, call_.scalars, tensors}).value;
    for (double& value : values) value = static_cast<float>(value);
    return outputs_of(op, dims, values);
  }
  Values product(Dims dims, const Tensors& tensors) const {
    dims["biased"] = 0;
    return run("gemv_fused", dims, tensors).at("y");
  }

  void attend(int64_t layer) {
    const int64_t n = (at("H") + 2 * at("KV")) * at("D"), c = at("C"), p = at("P");
    Dims dims = {{"N", n}, {"K", c}};
    dims.insert(dims_.begin(), dims_.end());
    Tensors tensors = {{"x", made_["y"]}, {"norm_scale", part("attn_scale", layer)}};
    for (const char* name : {"cosines", "sines"}) tensors[name] = call_.tensors.at(name);
    for (const char* name : {"k", "v", "bias"}) tensors[name] = part(name, layer);
    tensors["w"] = part("w_qkv", layer);
    Tensors made = run("attention_qkv", dims, tensors);
    made_["attended"] = made.at("y");
    const Row row(dims_, 0);
    for (const char* name : {"new_k", "new_v"}) {
      const Values& cache = made.at(name);
      std::copy_n(cache.begin() + p * row.width, row.width,
                  made_[name].begin() + Row(dims_, layer).first);
    }
    // Rotation and attention apart, the same product.
    const bool biased = at("biased") == 1;
    made_["qkv"] = run("gemv_fused", {{"N", n}, {"K", c}, {"norm", 1}, {"biased", biased}},
                       {{"x", made_["y"]},
                        {"r", made_["y"]},
                        {"scale", part("attn_scale", layer)},
                        {"w", part("w_qkv", layer)},
                        {"bias", part("bias", layer)}})
                       .at("y");
  }

  // r + x * w.
  Values sum(const char* x, const char* r, const char* w, int64_t layer) {
    const auto k = static_cast<int64_t>(made_[x].size());
    return product({{"N", at("C")}, {"K", k}, {"add", 1}}, {{"x", made_[x]},
                                                            {"r", made_[r]},
                                                            {"scale", Values(made_[x].size(), 0)},
                                                            {"w", part(w, layer)},
                                                            {"bias", Values(made_[r].size(), 0)}});
  }

  void add_layer(int64_t layer) {
    attend(layer);
    made_["between"] = sum("attended", "y", "w_o", layer);
    const int64_t n = 2 * at("F");
    made_["gated"] =
        product({{"N", n}, {"K", at("C")}, {"norm", 1}, {"gated", 1}, {"act", at("act")}},
                {{"x", made_["between"]},
                 {"r", made_["between"]},
                 {"scale", part("ffn_scale", layer)},
                 {"w", part("w_gate_up", layer)},
                 {"bias", Values(static_cast<size_t>(n), 0)}});
    made_["y"] = sum("gated", "between", "w_down", layer);
  }

  const CallValues& call_;
  const Dims& dims_;
  Tensors made_;
};

// The same in loops of float, as a kernel computes it.
class InFloat {
 public:
  explicit InFloat(const CallValues& call) : call_(call), y_(floats(call.tensors.at("x"))) {
    for (const char* cache : {"k", "v"}) caches_.push_back(floats(call.tensors.at(cache)));
    for (int64_t i = 0; i < at("count"); ++i) add_layer(at("first") + i);
  }
  Values outputs() const {
    Values all;
    for (const Floats* part :
         {&y_, &qkv_, &attended_, &between_, &gated_, &caches_[0], &caches_[1]})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  }

 private:
  using Floats = std::vector<float>;
  static Floats floats(const Values& values) { return {values.begin(), values.end()}; }
  int64_t at(const char* name) const { return call_.dims.at(name); }
  float scalar(const char* name) const { return static_cast<float>(call_.scalars.at(name)); }
  Floats part(const char* name, int64_t layer) const {
    const Values& all = call_.tensors.at(name);
    const auto size = static_cast<ptrdiff_t>(all.size()) / at("L");
    return {all.begin() + layer * size, all.begin() + (layer + 1) * size};
  }

  Floats normed(Floats x, const Floats& scale) const {
    float squares = 0;
    for (const float value : x) squares += value * value;
    const float factor = 1 / std::sqrt(squares / static_cast<float>(x.size()) + scalar("epsilon"));
    for (size_t i = 0; i < x.size(); ++i) x[i] *= factor * scale[i];
    return x;
  }
  static Floats product(const Floats& x, const Floats& w, Floats sums) {
    for (size_t k = 0; k < x.size(); ++k) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += x[k] * w[k * sums.size() + i];
    }
    return sums;
  }

  // One head in place.
  void turn(float* head) const {
    const auto d = at("D"), p = at("P");
    const bool halves = at("halves") == 1;
    for (int64_t i = 0; i < d / 2; ++i) {
      const auto angle = static_cast<size_t>(p * d / 2 + i);
      const auto c = static_cast<float>(call_.tensors.at("cosines")[angle]);
      const auto s = static_cast<float>(call_.tensors.at("sines")[angle]);
      float &a = head[halves ? i : 2 * i], &b = head[halves ? i + d / 2 : 2 * i + 1];
      const float first = a * c - b * s;
      b = a * s + b * c;
      a = first;
    }
  }
  void attend(const float* q, const float* k, const float* v, float* y) const {
    const auto d = at("D"), pitch = at("KV") * d, p = at("P"), window = at("window");
    const int64_t first = window > 0 ? std::max<int64_t>(0, p - window + 1) : 0;
    float total = 0;
    std::fill_n(y, d, 0.0f);
    for (int64_t row = first; row <= p; ++row) {
      float score = 0;
      for (int64_t i = 0; i < d; ++i) score += q[i] * k[row * pitch + i];
      const float weight = std::exp(score * scalar("scale"));
      for (int64_t i = 0; i < d; ++i) y[i] += weight * v[row * pitch + i];
      total += weight;
    }
    for (int64_t i = 0; i < d; ++i) y[i] /= total;
  }
  void attend_all(int64_t layer) {
    const auto h = at("H"), kv = at("KV"), d = at("D");
    Floats heads = qkv_;
    for (int64_t i = 0; i < h + kv; ++i) turn(heads.data() + i * d);
    const Row row(call_.dims, layer), start(call_.dims, 0);
    for (size_t i = 0; i < 2; ++i) {
      const auto from = heads.begin() + (h + static_cast<int64_t>(i) * kv) * d;
      std::copy_n(from, row.width, caches_[i].begin() + row.first);
    }
    attended_.resize(static_cast<size_t>(h * d));
    for (int64_t i = 0; i < h; ++i) {
      const int64_t seen = row.first - at("P") * start.width + i / (h / kv) * d;
      attend(heads.data() + i * d, caches_[0].data() + seen, caches_[1].data() + seen,
             attended_.data() + i * d);
    }
  }

  void add_layer(int64_t layer) {
    Floats bias = part("bias", layer);
    if (at("biased") == 0) std::ranges::fill(bias, 0.0f);
    qkv_ = product(normed(y_, part("attn_scale", layer)), part("w_qkv", layer), bias);
    attend_all(layer);
    between_ = product(attended_, part("w_o", layer), y_);
    const auto f = static_cast<size_t>(at("F"));
    const Floats row = product(normed(between_, part("ffn_scale", layer)), part("w_gate_up", layer),
                               Floats(2 * f, 0));
    gated_.resize(f);
    const auto act = static_cast<Act>(at("act"));
    for (size_t i = 0; i < f; ++i)
      gated_[i] = static_cast<float>(apply_act(act, 0, 0, row[i])) * row[f + i];
    y_ = product(gated_, part("w_down", layer), between_);
  }

  const CallValues& call_;
  Floats y_, qkv_, attended_, between_, gated_;
  std::vector<Floats> caches_;
};

class DecoderLayers : public testing::TestWithParam<TestShape> {
 protected:
  void expect_within_bounds(Values made) const {
    ASSERT_EQ(made.size(), result_.value.size());
    for (size_t i = 0; i < made.size(); ++i) {
      if (result_.untouched[i]) made[i] = result_.value[i];
    }
    const Comparison found = compare(result_, made, Precision::kHigh);
    EXPECT_TRUE(found.right) << "output " << found.first_bad << ": " << found.got << " in place of "
                             << found.want;
  }
  const CallValues call_ = call_of(GetParam());
  const ReferenceResult result_ = reference(kOp, call_);
};

TEST_P(DecoderLayers, AreWhatTheOperationsMakeThatTheyAreMadeOf) {
  const Chain chain(call_);
  Values made;
  for (const TensorRole& role : roles_of(kOp, GetParam().dims)) {
    if (role.kind != TensorKind::kOutput) continue;
    const Values& output = chain.output(role.name);
    made.insert(made.end(), output.begin(), output.end());
  }
  expect_within_bounds(made);
}

TEST_P(DecoderLayers, AreWhatLoopsOfFloatMake) { expect_within_bounds(InFloat(call_).outputs()); }

TEST_P(DecoderLayers, WriteRowPOfTheCachesOfTheirOwnLayersAlone) {
  const Dims& dims = GetParam().dims;
  const Tensors untouched =
      outputs_of(kOp, dims, Values(result_.untouched.begin(), result_.untouched.end()));
  for (const auto& [name, marks] : untouched) {
    Values wanted(marks.size(), 0);
    if (name.starts_with("new_")) {
      wanted.assign(marks.size(), 1);
      const Values written(marks.size(), 0);
      for (int64_t i = 0; i < dims.at("count"); ++i)
        copy_row(written, Row(dims, dims.at("first") + i), wanted);
    }
    EXPECT_EQ(marks, wanted) << name;
  }
}

// The bounds grow from stage to stage. If they grew to the size of y, a trial would call any kernel
// right.
TEST_P(DecoderLayers, HaveBoundsOfASmallPartOfWhatTheyMake) {
  const auto count = static_cast<ptrdiff_t>(GetParam().dims.at("C"));
  const Values bounds = error_bounds(result_, Precision::kHigh);
  double largest = 0;
  for (ptrdiff_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(result_.value[static_cast<size_t>(i)]));
  EXPECT_LT(*std::max_element(bounds.begin(), bounds.begin() + count), 2e-3 * largest);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DecoderLayers, testing::ValuesIn(shapes()),
                         [](const auto& info) { return info.param.name; });

class TwoLayers : public testing::Test {
 protected:
  ReferenceResult of(const CallValues& from, int64_t first, int64_t count) const {
    CallValues call = from;
    call.dims["first"] = first;
    call.dims["count"] = count;
    return reference(kOp, call);
  }
  Tensors outputs(const ReferenceResult& result) const {
    return outputs_of(kOp, both_.dims, result.value);
  }
  // What the second layer alone is given behind the first.
  CallValues behind(const Tensors& first) const {
    CallValues call = both_;
    call.tensors["x"] = first.at("y");
    copy_row(first.at("new_k"), Row(call.dims, 0), call.tensors["k"]);
    copy_row(first.at("new_v"), Row(call.dims, 0), call.tensors["v"]);
    return call;
  }
  const CallValues both_ = call_of(shapes().at(0));
};

TEST_F(TwoLayers, AreTheFirstAndThenTheSecondAlone) {
  ASSERT_EQ(both_.dims.at("L"), 2);
  const ReferenceResult whole = of(both_, 0, 2), first = of(both_, 0, 1);
  const ReferenceResult second = of(behind(outputs(first)), 1, 1);
  Tensors wanted = outputs(second);
  for (const char* cache : {"new_k", "new_v"})
    copy_row(outputs(first).at(cache), Row(both_.dims, 0), wanted[cache]);
  EXPECT_EQ(outputs(whole), wanted);
}

// One scale of one norm by a sixty-fourth, in either layer.
TEST_F(TwoLayers, AreWrongWhereASingleScaleIs) {
  const ReferenceResult right = of(both_, 0, 2);
  const auto layer = static_cast<size_t>(both_.dims.at("C"));
  for (const char* name : {"attn_scale", "ffn_scale"}) {
    for (const size_t at : {size_t{3}, layer + 5}) {
      CallValues call = both_;
      call.tensors[name][at] += 0x1p-6;
      EXPECT_FALSE(compare(right, of(call, 0, 2).value, Precision::kHigh).right) << name << at;
    }
  }
}

TEST_F(TwoLayers, HaveTheErrorsOfTheFirstToo) {
  const ReferenceResult whole = of(both_, 0, 2);
  const ReferenceResult second = of(behind(outputs(of(both_, 0, 1))), 1, 1);
  const Values bounds = error_bounds(whole, Precision::kHigh);
  const Values alone = error_bounds(second, Precision::kHigh);
  for (size_t i = 0; i < static_cast<size_t>(both_.dims.at("C")); ++i)
    EXPECT_GT(bounds[i], alone[i]) << i;
}

}  // namespace
}  // namespace clvet
