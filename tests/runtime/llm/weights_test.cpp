// Matrices and vectors of tiny models, joined, cut and expanded, against the file's own values.
#include "runtime/llm/weights.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"

namespace clvet {
namespace {

using ::testing::HasSubstr;

// Random bytes as blocks whose scales (halves) lie in 2^-7 .. 2^-5.
void fill_blocks(test::GgufBuilder::TensorRow& row, uint32_t seed) {
  const BlockType& type = *find_block_type(row.type);
  uint32_t state = seed;
  for (char& byte : row.data) byte = static_cast<char>(test::noise(state) >> 24);
  const auto size = static_cast<size_t>(type.bytes);
  for (size_t at = 0; at < row.data.size(); at += size) {
    const size_t d = type.name == "Q6_K" ? 208 : 0;
    row.data[at + d + 1] = 0x20;
    if (type.name == "Q5_1" || type.name == "Q4_1") row.data[at + 3] = 0x20;
  }
}

class Model {
 public:
  explicit Model(test::GgufBuilder builder) {
    uint32_t seed = 1;
    uint64_t offset = 0;
    for (auto& row : builder.tensors) {
      const BlockType& type = *find_block_type(row.type);
      row.data.resize(elements(row) / static_cast<size_t>(type.elements) *
                      static_cast<size_t>(type.bytes));
      if (type.quantised()) fill_blocks(row, ++seed);
      for (size_t i = 0; !type.quantised() && i + 4 <= row.data.size(); i += 4) {
        const auto value = static_cast<float>(i / 4 + 1);
        row.data.replace(i, 4, test::raw(value));
      }
      row.offset = offset;
      offset = (offset + row.data.size() + 31) / 32 * 32;
    }
    bytes_ = builder.bytes();
    auto file = test::parse_gguf(bytes_);
    EXPECT_TRUE(file) << file.error().message;
    file_ = std::make_unique<GgufFile>(std::move(*file));
    const auto config = load_config(*file_);
    EXPECT_TRUE(config) << config.error().message;
    config_ = *config;
    weights_ = std::make_unique<LlmWeights>(*file_, config_);
  }
  const LlmWeights* operator->() const { return weights_.get(); }
  const LlmConfig& config() const { return config_; }
  // Of one tensor of the file.
  std::vector<float> values(const std::string& name) const {
    const GgufTensor& tensor = *file_->find(name);
    std::vector<float> floats(static_cast<size_t>(tensor.rows() * tensor.columns()));
    EXPECT_TRUE(dequantize(*tensor.type, file_->data(tensor), floats));
    return floats;
  }

 private:
  static size_t elements(const test::GgufBuilder::TensorRow& row) {
    size_t count = 1;
    for (const uint64_t extent : row.shape) count *= extent;
    return count;
  }
  std::string bytes_;
  std::unique_ptr<GgufFile> file_;
  LlmConfig config_;
  std::unique_ptr<LlmWeights> weights_;
};

test::GgufBuilder with_type(test::GgufBuilder builder, const char* tensor, const char* type) {
  builder.find(tensor)->type = find_block_type(type)->id;
  return builder;
}

std::vector<float> joined(const Model& model, const std::vector<const char*>& names) {
  std::vector<float> all;
  for (const char* name : names) {
    const auto values = model.values(name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(LlmWeights, JoinQueryKeyAndValueInThisOrder) {
  const Model model(test::tiny_model("llama"));
  const auto matrix = model->matrix("1.qkv");
  ASSERT_TRUE(matrix) << matrix.error().message;
  EXPECT_EQ(matrix->rows, 128);
  EXPECT_EQ(matrix->columns, 64);
  EXPECT_EQ(matrix->type, WeightType::kInt8);
  EXPECT_EQ(matrix->expanded(),
            joined(model, {"blk.1.attn_q.weight", "blk.1.attn_k.weight", "blk.1.attn_v.weight"}));
}

TEST(LlmWeights, KeepFourBitsOnlyWhereAllPartsHaveThem) {
  const test::GgufBuilder four = test::tiny_model("llama", {.layers = 1}, "Q4_0");
  const std::vector<const char*> names = {"blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"};
  struct Row {
    test::GgufBuilder builder;
    WeightType type;
  };
  for (const Row& row :
       {Row{four, WeightType::kInt4}, Row{with_type(four, names[0], "Q8_0"), WeightType::kInt8},
        Row{with_type(four, names[1], "Q5_1"), WeightType::kInt8},
        Row{with_type(four, names[1], "Q4_1"), WeightType::kInt4},
        Row{with_type(four, names[0], "F32"), WeightType::kFloat},
        Row{with_type(four, names[1], "F32"), WeightType::kFloat}}) {
    const Model model(row.builder);
    const auto matrix = model->matrix("0.gate_up");
    ASSERT_TRUE(matrix) << matrix.error().message;
    EXPECT_EQ(matrix->type, row.type);
    EXPECT_EQ(*model->type_of("0.gate_up"), row.type) << "without reading it";
    EXPECT_EQ(matrix->rows, 192);
    const auto got = matrix->expanded(), want = joined(model, names);
    ASSERT_EQ(got.size(), want.size());
    // scale * q + minimum in float: two roundings of values below 1.
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6) << i;
  }
}

TEST(LlmWeights, AreQ4_0OnlyWhereAllPartsAre) {
  const test::GgufBuilder four = test::tiny_model("llama", {.layers = 1}, "Q4_0");
  EXPECT_TRUE(*Model(four)->is_q4_0("0.gate_up"));
  for (const char* type : {"Q4_1", "Q8_0", "F32"}) {
    const Model model(with_type(four, "blk.0.ffn_up.weight", type));
    EXPECT_FALSE(*model->is_q4_0("0.gate_up")) << type;
    EXPECT_TRUE(*model->is_q4_0("0.down")) << type;
  }
  EXPECT_FALSE(Model(four)->is_q4_0("0.none"));
}

// Blocks of 16 (Q6_K) become blocks of 32 of 8 bits: off by half a step of 1/255 of their range.
TEST(LlmWeights, QuantiseShorterBlocksAgainWithinHalfAStep) {
  const Model model(
      test::tiny_model("llama", {.layers = 1, .width = 256, .ff = 256, .head_dim = 64}, "Q6_K"));
  const auto matrix = model->matrix("0.o");
  ASSERT_TRUE(matrix) << matrix.error().message;
  EXPECT_EQ(matrix->type, WeightType::kInt8);
  const auto got = matrix->expanded(), want = model.values("blk.0.attn_output.weight");
  ASSERT_EQ(got.size(), want.size());
  for (size_t at = 0; at < want.size(); at += 32) {
    const auto [low, high] = std::minmax_element(want.begin() + at, want.begin() + at + 32);
    const double step = (static_cast<double>(*high) - *low) / 255;
    for (size_t i = at; i < at + 32; ++i) {
      ASSERT_NEAR(got[i], want[i], step * 0.5001 + 1e-6) << i;
    }
  }
}

TEST(LlmWeights, TakeTheEmbeddingForAHeadThatIsTiedAndItsOwnElsewhere) {
  const Model tied(test::tiny_model("llama"));
  EXPECT_EQ(tied->matrix("head")->expanded(), tied.values("token_embd.weight"));
  test::GgufBuilder builder = test::tiny_model("llama");
  builder.zeros("output.weight", {64, 7}, "Q4_0");
  const Model own(builder);
  EXPECT_EQ(*own->type_of("head"), WeightType::kInt4);
  EXPECT_EQ(own->parts("head")->front()->name, "output.weight");
}

TEST(WeightMatrix, GivesSomeOfItsRows) {
  for (const char* type : {"Q8_0", "F32"}) {
    const Model model(test::tiny_model("llama", {.layers = 1}, type));
    const WeightMatrix whole = model->matrix("0.down").value();
    const std::vector<float> all = whole.expanded();
    const std::pair<int64_t, int64_t> parts[] = {{0, 64}, {0, 1}, {63, 1}, {5, 20}, {7, 0}};
    for (const auto& [first, count] : parts) {
      const WeightMatrix part = whole.part(first, count);
      EXPECT_EQ(part.rows, count);
      EXPECT_EQ(part.columns, 96);
      EXPECT_EQ(part.expanded(),
                std::vector<float>(all.begin() + first * 96, all.begin() + (first + count) * 96));
    }
  }
}

TEST(LlmWeights, JoinBiasesAsTheirMatrices) {
  const Model model(test::tiny_model("qwen2"));
  EXPECT_EQ(*model->vector("0.qkv_bias", 1),
            joined(model, {"blk.0.attn_q.bias", "blk.0.attn_k.bias", "blk.0.attn_v.bias"}));
  EXPECT_EQ(*model->vector_length("0.qkv_bias", 1), 128);
}

TEST(LlmWeights, HaveZerosForTheLongestBias) {
  // 2 ff of 96; then 4 + 2 * 2 heads of 64.
  EXPECT_EQ(*Model(test::tiny_model("llama"))->vector_length("zeros", 9), 192);
  const Model wide(test::tiny_model("llama", {.head_dim = 64}));
  const auto zeros = wide->vector("zeros", 1);
  ASSERT_TRUE(zeros);
  EXPECT_EQ(zeros->size(), 512u);
  EXPECT_EQ(std::count(zeros->begin(), zeros->end(), 0.f), 512);
}

// Rope: the angle of position p and pair i is p * base^(-2i / d).
TEST(LlmWeights, TurnByTheAnglesOfTheirBase) {
  test::GgufBuilder builder = test::tiny_model("gemma3");
  builder.put("gemma3.rope.freq_base", test::gguf_f32(1e6f));
  const Model model(builder);
  for (const auto& [name, base] : {std::pair("global", 1e6), std::pair("local", 1e4)}) {
    const auto cosines = model->vector(std::string("cos_") + name, 100);
    const auto sines = model->vector(std::string("sin_") + name, 100);
    ASSERT_TRUE(cosines && sines);
    ASSERT_EQ(cosines->size(), 100u * 8);
    EXPECT_EQ(*model->vector_length(std::string("cos_") + name, 100), 800);
    for (int p : {0, 1, 50, 99}) {
      for (int i = 0; i < 8; ++i) {
        const double angle = p * std::pow(base, -2.0 * i / 16);
        EXPECT_NEAR((*cosines)[p * 8 + i], std::cos(angle), 1e-6) << name << p << " " << i;
        EXPECT_NEAR((*sines)[p * 8 + i], std::sin(angle), 1e-6) << name << p << " " << i;
      }
    }
  }
}

TEST(LlmWeights, EmbedTokensScaledAsTheModelWantsIt) {
  for (const auto& [arch, scale] : {std::pair("llama", 1.0), std::pair("gemma3", 8.0)}) {
    const Model model(test::tiny_model(arch));
    const std::vector<int32_t> ids = {6, 0, 6};
    const auto rows = model->embeddings(ids);
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_EQ(rows->size(), 3u * 64);
    const auto table = model.values("token_embd.weight");
    for (size_t i = 0; i < rows->size(); ++i) {
      const size_t token = static_cast<size_t>(ids[i / 64]);
      ASSERT_FLOAT_EQ((*rows)[i], static_cast<float>(table[token * 64 + i % 64] * scale)) << i;
    }
    EXPECT_TRUE(model->embeddings({})->empty());
  }
}

TEST(LlmWeights, NameATokenThatTheModelHasNot) {
  const Model model(test::tiny_model("llama"));
  for (const int32_t id : {-1, 7, INT32_MAX, INT32_MIN}) {
    const std::vector<int32_t> ids = {0, id};
    const auto rows = model->embeddings(ids);
    ASSERT_FALSE(rows) << id;
    EXPECT_EQ(rows.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(rows.error().message, HasSubstr(std::to_string(id) + " is not one of"));
  }
}

TEST(LlmWeights, NamePartsThatAreNone) {
  const Model model(test::tiny_model("llama"));
  for (const char* name : {"", "0", "0.", ".qkv", "0.nothing", "tail", "9.qkv", "0.qkv_bias"}) {
    EXPECT_FALSE(model->matrix(name)) << name;
    EXPECT_FALSE(model->type_of(name)) << name;
    EXPECT_FALSE(model->vector(name, 1)) << name;
  }
  EXPECT_THAT(model->matrix("9.o").error().message, HasSubstr("no tensor 'blk.9.attn_output"));
}

}  // namespace
}  // namespace clvet
