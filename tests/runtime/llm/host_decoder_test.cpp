#include <gtest/gtest.h>
#include <math.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/decoder.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/token_feed.h"
#include "runtime/llm/weights.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"

namespace clvet::test {
namespace {

using Rows = std::vector<std::vector<double>>;

// The whole text through the model at once, in float64, from the papers' formulas: nothing is
// cached.
class WholeText {
 public:
  WholeText(const GgufFile& file, const LlmConfig& config) : file_(file), c_(config) {}

  std::vector<double> logits(std::span<const int32_t> tokens) const {
    Rows hidden;
    const std::vector<double> table = values("token_embd.weight");
    for (const int32_t token : tokens) {
      std::vector<double> row(table.begin() + token * c_.width,
                              table.begin() + (token + 1) * c_.width);
      for (double& value : row) value *= c_.embedding_scale;
      hidden.push_back(row);
    }
    for (int64_t layer = 0; layer < c_.layers; ++layer) {
      const std::string at = "blk." + std::to_string(layer) + ".";
      add(attention(layer, at, normed(hidden, at + "attn_norm.weight", c_.width)), at,
          "post_attention_norm.weight", hidden);
      const Rows inner = normed(hidden, at + "ffn_norm.weight", c_.width);
      Rows gate = product(inner, at + "ffn_gate.weight"), up = product(inner, at + "ffn_up.weight");
      for (size_t t = 0; t < gate.size(); ++t) {
        for (size_t i = 0; i < gate[t].size(); ++i) {
          const double z = gate[t][i], cube = z + 0.044715 * z * z * z;
          const double gelu = 0.5 * z * (1 + std::tanh(std::sqrt(2 / M_PI) * cube));
          gate[t][i] = (c_.activation == Act::kSilu ? z / (1 + std::exp(-z)) : gelu) * up[t][i];
        }
      }
      add(product(gate, at + "ffn_down.weight"), at, "post_ffw_norm.weight", hidden);
    }
    const Rows last = normed({hidden.back()}, "output_norm.weight", c_.width);
    return product(last, c_.tied_head ? "token_embd.weight" : "output.weight")[0];
  }

 private:
  std::vector<double> values(const std::string& name) const {
    const GgufTensor& tensor = *file_.find(name);
    std::vector<float> floats(static_cast<size_t>(tensor.rows() * tensor.columns()));
    EXPECT_TRUE(dequantize(*tensor.type, file_.data(tensor), floats));
    return {floats.begin(), floats.end()};
  }

  Rows normed(Rows rows, const std::string& scale_name, int64_t width) const {
    const std::vector<double> scale = values(scale_name);
    for (auto& row : rows) {
      for (size_t from = 0; from < row.size(); from += static_cast<size_t>(width)) {
        double squares = 0;
        for (int64_t i = 0; i < width; ++i) squares += row[from + i] * row[from + i];
        const double root = std::sqrt(squares / static_cast<double>(width) + c_.norm_eps);
        for (int64_t i = 0; i < width; ++i) row[from + i] *= scale[i] / root;
      }
    }
    return rows;
  }

  Rows product(const Rows& rows, const std::string& name) const {
    const std::vector<double> w = values(name);
    const size_t inputs = rows[0].size(), outputs = w.size() / inputs;
    const std::string bias_name = name.substr(0, name.rfind('.')) + ".bias";
    std::vector<double> bias(outputs, 0.0);
    if (file_.find(bias_name)) bias = values(bias_name);
    Rows out;
    for (const auto& row : rows) {
      out.push_back(bias);
      for (size_t o = 0; o < outputs; ++o) {
        for (size_t i = 0; i < inputs; ++i) out.back()[o] += w[o * inputs + i] * row[i];
      }
    }
    return out;
  }

  void turn(Rows& rows, int64_t layer) const {
    const int64_t d = c_.head_dim;
    for (size_t p = 0; p < rows.size(); ++p) {
      for (size_t from = 0; from < rows[p].size(); from += static_cast<size_t>(d)) {
        for (int64_t i = 0; i < d / 2; ++i) {
          const double angle = static_cast<double>(p) *
                               std::pow(c_.rope_base_of(layer), -2.0 * static_cast<double>(i) / d);
          const bool halves = c_.rope == RopeKind::kNeox;
          double& a = rows[p][from + (halves ? i : 2 * i)];
          double& b = rows[p][from + (halves ? i + d / 2 : 2 * i + 1)];
          const double x = a, y = b;
          a = x * std::cos(angle) - y * std::sin(angle);
          b = y * std::cos(angle) + x * std::sin(angle);
        }
      }
    }
  }

  Rows attention(int64_t layer, const std::string& at, const Rows& x) const {
    Rows q = product(x, at + "attn_q.weight"), k = product(x, at + "attn_k.weight");
    const Rows v = product(x, at + "attn_v.weight");
    if (c_.qk_norm) {
      q = normed(q, at + "attn_q_norm.weight", c_.head_dim);
      k = normed(k, at + "attn_k_norm.weight", c_.head_dim);
    }
    turn(q, layer);
    turn(k, layer);
    const int64_t d = c_.head_dim, group = c_.heads / c_.kv_heads;
    Rows out(x.size(), std::vector<double>(static_cast<size_t>(c_.heads * d), 0.0));
    for (int64_t p = 0; p < static_cast<int64_t>(x.size()); ++p) {
      const int64_t from = c_.windowed(layer) ? std::max<int64_t>(0, p - c_.window + 1) : 0;
      for (int64_t h = 0; h < c_.heads; ++h) {
        const int64_t own = h / group * d;
        std::vector<double> share;
        double sum = 0;
        for (int64_t j = from; j <= p; ++j) {
          double dot = 0;
          for (int64_t i = 0; i < d; ++i) dot += q[p][h * d + i] * k[j][own + i];
          share.push_back(c_.attention_scale * dot);
        }
        const double top = *std::max_element(share.begin(), share.end());
        for (double& score : share) sum += score = std::exp(score - top);
        for (int64_t j = from; j <= p; ++j) {
          for (int64_t i = 0; i < d; ++i)
            out[p][h * d + i] += share[j - from] / sum * v[j][own + i];
        }
      }
    }
    return product(out, at + "attn_output.weight");
  }

  void add(Rows delta, const std::string& at, const char* post_norm, Rows& hidden) const {
    if (c_.post_norms) delta = normed(delta, at + post_norm, c_.width);
    for (size_t t = 0; t < hidden.size(); ++t) {
      for (size_t i = 0; i < hidden[t].size(); ++i) hidden[t][i] += delta[t][i];
    }
  }

  const GgufFile& file_;
  const LlmConfig& c_;
};

struct Model {
  std::string arch;
  uint32_t window;
  size_t tokens;
  const char* type = "F32";
};

class HostDecoderOf : public testing::TestWithParam<Model> {};

TEST_P(HostDecoderOf, GivesTheLogitsOfTheWholeTextInFloat64) {
  const auto [arch, window, count, type] = GetParam();
  const bool floats = std::string(type) == "F32";
  const std::string bytes =
      (floats ? noisy_model(arch, window) : quantised_model(arch, type)).bytes();
  const auto file = parse_gguf(bytes);
  ASSERT_TRUE(file) << file.error().message;
  const auto config = load_config(*file);
  ASSERT_TRUE(config) << config.error().message;
  const LlmWeights weights(*file, *config);
  auto decoder = HostDecoder::create(*config, weights, 48);
  ASSERT_TRUE(decoder) << decoder.error().message;
  TokenFeed feed(**decoder, *config, weights, 48);
  std::vector<int32_t> tokens;
  uint32_t state = 3;
  for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(noise(state) >> 16) % 7);
  // In two goes, the second token by token, as a text grows.
  const size_t first = count - 3;
  auto logits = feed.take(std::span(tokens).first(first));
  for (size_t i = first; i < count && logits; ++i)
    logits = feed.take(std::span(tokens).subspan(i, 1));
  ASSERT_TRUE(logits) << logits.error().message;
  const std::vector<double> want = WholeText(*file, *config).logits(tokens);
  ASSERT_EQ(logits->size(), want.size());
  double largest = 0;
  for (const double value : want) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR((*logits)[i], want[i], 2e-4 * largest) << i;
}

std::vector<float> logits_at(const GgufFile& file, LlmConfig config, double residual_scale) {
  config.residual_scale = residual_scale;
  const LlmWeights weights(file, config);
  auto decoder = HostDecoder::create(config, weights, 8);
  EXPECT_TRUE(decoder) << decoder.error().message;
  TokenFeed feed(**decoder, config, weights, 8);
  const std::vector<int32_t> tokens = {3, 1, 4, 1, 5, 2, 6, 5, 3, 5};
  const auto logits = feed.take(tokens);
  EXPECT_TRUE(logits) << logits.error().message;
  return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
}

TEST(ResidualScale, ThatIsAPowerOfTwoChangesNoLogit) {
  const std::string bytes = noisy_model("gemma3", 0).bytes();
  const auto file = parse_gguf(bytes);
  ASSERT_TRUE(file) << file.error().message;
  const auto config = load_config(*file);
  ASSERT_TRUE(config) << config.error().message;
  const std::vector<float> plain = logits_at(*file, *config, 1);
  ASSERT_FALSE(plain.empty());
  EXPECT_EQ(logits_at(*file, *config, 0.125), plain);
  EXPECT_NE(logits_at(*file, *config, 0.1), plain);
}

TEST(ResidualScale, IsAPowerOfTwoOfAModelWithNormsBeforeItsSums) {
  LlmConfig config;
  EXPECT_TRUE(takes_residual_scale(config, 1));
  EXPECT_FALSE(takes_residual_scale(config, 0.5));
  config.post_norms = true;
  for (const double scale : {1.0, 0.5, 0.125, std::ldexp(1, -16)})
    EXPECT_TRUE(takes_residual_scale(config, scale)) << scale;
  for (const double scale : {0.0, -0.5, 0.3, 2.0, 1e-300, double{NAN}, double{INFINITY}})
    EXPECT_FALSE(takes_residual_scale(config, scale)) << scale;
}

INSTANTIATE_TEST_SUITE_P(Models, HostDecoderOf,
                         testing::Values(Model{"llama", 0, 70}, Model{"qwen2", 0, 70},
                                         Model{"gemma3", 0, 40}, Model{"gemma3", 512, 600},
                                         Model{"llama", 0, 2100}, Model{"llama", 0, 9, "Q8_0"},
                                         Model{"qwen2", 0, 9, "Q4_0"}, Model{"llama", 0, 9, "Q4_1"},
                                         Model{"gemma3", 0, 9, "Q5_0"},
                                         Model{"qwen2", 0, 9, "Q5_1"}, Model{"llama", 0, 6, "Q4_K"},
                                         Model{"qwen2", 0, 6, "Q5_K"}),
                         [](const auto& row) {
                           return fmt::format("{}_{}_{}_tokens_window_{}", row.param.arch,
                                              row.param.type, row.param.tokens, row.param.window);
                         });

std::vector<Model> each_arch() {
  std::vector<Model> models;
  for (const ArchSpec* spec : arch_specs()) models.push_back({std::string(spec->name), 0, 12});
  return models;
}

INSTANTIATE_TEST_SUITE_P(EachArch, HostDecoderOf, testing::ValuesIn(each_arch()),
                         [](const auto& row) { return row.param.arch; });

// A backend that only notes what it is asked for.
struct NotedSteps : DecoderBackend {
  struct Step {
    int64_t rows, position;
    bool answer;
    bool operator==(const Step&) const = default;
  };
  Result<std::span<const float>> step(std::span<const float> hidden, int64_t rows, int64_t position,
                                      bool answer) override {
    EXPECT_EQ(hidden.size(), static_cast<size_t>(rows * 32));
    if (static_cast<int64_t>(steps.size()) == fails_at) {
      return fail(ErrorCode::kDeviceError, "broken");
    }
    steps.push_back({rows, position, answer});
    return std::span<const float>(logits).first(answer ? 7 : 0);
  }
  Status reserve(int64_t) override { return {}; }
  std::vector<Step> steps;
  int64_t fails_at = -1;
  const std::vector<float> logits = std::vector<float>(7, 1.f);
};

class FeedSteps : public testing::Test {
 protected:
  void SetUp() override {
    bytes_ = noisy_model("llama", 0).bytes();
    auto file = parse_gguf(bytes_);
    ASSERT_TRUE(file) << file.error().message;
    file_ = std::make_unique<GgufFile>(std::move(*file));
    config_ = load_config(*file_).value();
    weights_ = std::make_unique<LlmWeights>(*file_, config_);
    feed_ = std::make_unique<TokenFeed>(backend_, config_, *weights_, 4);
  }
  std::string bytes_;
  std::unique_ptr<GgufFile> file_;
  LlmConfig config_;
  std::unique_ptr<LlmWeights> weights_;
  NotedSteps backend_;
  std::unique_ptr<TokenFeed> feed_;
};

TEST_F(FeedSteps, TakeFullRowsAndTheLastTokenAlone) {
  const std::vector<int32_t> ten(10, 1), one(1, 1), five(5, 1);
  std::vector<size_t> progress;
  ASSERT_TRUE(feed_->take(ten, [&](size_t done) { progress.push_back(done); }));
  ASSERT_TRUE(feed_->take(one));
  ASSERT_TRUE(feed_->take(five));
  EXPECT_EQ(backend_.steps, (std::vector<NotedSteps::Step>{{4, 0, false},
                                                           {4, 4, false},
                                                           {1, 8, false},
                                                           {1, 9, true},
                                                           {1, 10, true},
                                                           {4, 11, false},
                                                           {1, 15, true}}));
  EXPECT_EQ(progress, (std::vector<size_t>{4, 8, 9, 10}));
  EXPECT_EQ(feed_->position(), 16);
  feed_->restart();
  EXPECT_EQ(feed_->position(), 0);
}

TEST_F(FeedSteps, FillTheContextToItsLastPosition) {
  const std::vector<int32_t> all(4096, 1), one(1, 1);
  ASSERT_TRUE(feed_->take(all));
  const auto refused = feed_->take(one);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(feed_->position(), 4096) << "nothing was taken";
  feed_->restart();
  EXPECT_TRUE(feed_->take(one));
}

TEST_F(FeedSteps, StopWhereTheBackendFails) {
  const std::vector<int32_t> ten(10, 1);
  backend_.fails_at = 1;
  const auto refused = feed_->take(ten);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDeviceError);
  EXPECT_EQ(feed_->position(), 4);
}

TEST(TokenFeed, RefusesMoreTokensThanTheContextHolds) {
  const std::string bytes = noisy_model("llama", 0).bytes();
  const auto file = parse_gguf(bytes);
  const auto config = load_config(*file);
  ASSERT_TRUE(config);
  const LlmWeights weights(*file, *config);
  auto decoder = HostDecoder::create(*config, weights, 8);
  ASSERT_TRUE(decoder);
  TokenFeed feed(**decoder, *config, weights, 8);
  EXPECT_FALSE(feed.take({}));
  const std::vector<int32_t> many(4097, 1), beyond = {7};
  const auto refused = feed.take(many);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  const auto unknown = feed.take(beyond);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace clvet::test
