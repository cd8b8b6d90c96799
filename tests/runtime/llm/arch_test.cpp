// Walks every ArchSpec of the registry, and the header of a real model.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/llm/tokenizer_files.h"

namespace clvet {
namespace {

using test::tiny_model;
using test::TinyShape;
using testing::AllOf;
using testing::HasSubstr;

// The answer for a file that lives no longer than the call.
Result<LlmConfig> config_of(const test::GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  const auto file = test::parse_gguf(bytes);
  EXPECT_TRUE(file) << file.error().message;
  return load_config(*file);
}

std::string config_fault(const test::GgufBuilder& builder) {
  const auto config = config_of(builder);
  return config ? std::string("none") : config.error().message;
}

class EveryArch : public testing::TestWithParam<const ArchSpec*> {
 protected:
  std::string name() const { return std::string(GetParam()->name); }
};

TEST_P(EveryArch, TakesAFileWithAllItsKeysAndTensors) {
  const auto config = config_of(tiny_model(name()));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->architecture, name());
  EXPECT_EQ(config->layers, 2);
  EXPECT_EQ(config->width, 64);
  EXPECT_EQ(config->ff, 96);
  EXPECT_EQ(config->heads, 4);
  EXPECT_EQ(config->kv_heads, 2);
  EXPECT_EQ(config->head_dim, 16);
  EXPECT_EQ(config->context, 128);
  EXPECT_EQ(config->vocab, 7);
  EXPECT_NEAR(config->norm_eps, 1e-6, 1e-12);
  EXPECT_DOUBLE_EQ(config->attention_scale, 0.25);
  EXPECT_TRUE(config->tied_head);
}

TEST_P(EveryArch, TakesHeadsWhoseLengthIsNoShareOfTheWidth) {
  const auto config = config_of(tiny_model(name(), {.heads = 2, .kv_heads = 1, .head_dim = 64}));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->q_width(), 128);
  EXPECT_EQ(config->kv_width(), 64);
}

TEST_P(EveryArch, TakesAHeadOfItsOwn) {
  auto builder = tiny_model(name());
  builder.zeros("output.weight", {64, 7}, "F16");
  const auto config = config_of(builder);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->tied_head);
}

TEST_P(EveryArch, NamesEachTensorThatIsMissing) {
  const auto whole = tiny_model(name());
  for (size_t i = 0; i < whole.tensors.size(); ++i) {
    auto builder = whole;
    const std::string gone = builder.tensors[i].name;
    builder.tensors.erase(builder.tensors.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(config_fault(builder),
                AllOf(HasSubstr("'" + gone + "' is missing"), HasSubstr("1 of its tensors")));
  }
}

TEST_P(EveryArch, TellsAllWrongTensorsAtOnce) {
  auto builder = tiny_model(name());
  builder.find("blk.0.attn_q.weight")->shape = {64, 32};
  builder.find("blk.1.ffn_down.weight")->shape = {32, 64};
  builder.find("output_norm.weight")->name = "output_norm.bias";
  const std::string bytes = builder.bytes();
  const auto file = test::parse_gguf(bytes);
  const auto config = read_config(*file, *GetParam());
  ASSERT_TRUE(config);
  std::set<std::string> told;
  for (const TensorFault& row : tensor_faults(*file, *GetParam(), *config)) {
    EXPECT_THAT(row.fault, HasSubstr("'" + row.tensor + "'"));
    told.insert(row.fault);
  }
  EXPECT_THAT(
      told, testing::ElementsAre("tensor 'blk.0.attn_q.weight' is 64x32, but should be 64x64",
                                 "tensor 'blk.1.ffn_down.weight' is 32x64, but should be 96x64",
                                 "tensor 'output_norm.bias' does not belong to the architecture " +
                                     name() + " as clvet knows it",
                                 "tensor 'output_norm.weight' is missing; it should be 64"));
  EXPECT_THAT(config_fault(builder), HasSubstr("4 of its tensors"));
}

TEST_P(EveryArch, RefusesATypeThatCannotBeRead) {
  EXPECT_THAT(config_fault(tiny_model(name(), {.width = 256, .ff = 256, .head_dim = 64}, "IQ4_XS")),
              AllOf(HasSubstr("has the type IQ4_XS"), HasSubstr("Q4_K")));
}

INSTANTIATE_TEST_SUITE_P(All, EveryArch, testing::ValuesIn(arch_specs()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(Arch, IsNamedWithThoseThatAreKnownWhereItIsNot) {
  const auto config = config_of(tiny_model("phi3"));
  EXPECT_EQ(config.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(config.error().message, AllOf(HasSubstr("does not support the architecture 'phi3'"),
                                            HasSubstr("it supports " + arch_names())));
}

TEST(Arch, LlamaTurnsNeighboursAndQwen2Halves) {
  const auto llama = config_of(tiny_model("llama")), qwen = config_of(tiny_model("qwen2"));
  EXPECT_EQ(llama->rope, RopeKind::kNorm);
  EXPECT_EQ(qwen->rope, RopeKind::kNeox);
  EXPECT_FALSE(llama->qkv_bias);
  EXPECT_TRUE(qwen->qkv_bias);
  EXPECT_EQ(llama->activation, Act::kSilu);
  EXPECT_EQ(llama->rope_base, 10000);
  EXPECT_EQ(llama->embedding_scale, 1);
  EXPECT_FALSE(llama->windowed(0));
}

// What is published of Gemma 3: windows on five of each six layers, a base of 10,000 there and of
// 1,000,000 elsewhere, embeddings scaled by the root of the width, norms around both parts.
TEST(Arch, Gemma3HasWindowsNormsAndAScaledEmbedding) {
  auto builder = tiny_model("gemma3", {.layers = 18});
  builder.put("gemma3.attention.sliding_window", test::gguf_u32(512))
      .put("gemma3.rope.freq_base", test::gguf_f32(1e6f));
  const auto config = config_of(builder);
  ASSERT_TRUE(config) << config.error().message;
  std::vector<int64_t> whole;
  for (int64_t layer = 0; layer < 18; ++layer) {
    if (!config->windowed(layer)) whole.push_back(layer);
  }
  EXPECT_THAT(whole, testing::ElementsAre(5, 11, 17));
  EXPECT_EQ(config->window, 512);
  EXPECT_EQ(config->rope_base_of(0), 1e4);
  EXPECT_EQ(config->rope_base_of(5), 1e6);
  EXPECT_EQ(config->embedding_scale, 8);
  EXPECT_TRUE(config->qk_norm && config->post_norms);
  EXPECT_EQ(config->activation, Act::kGeluTanh);
}

// Tensors that published files have: 28 layers of Qwen2 7B with a head of its own (339), 18 of
// Gemma 3 270M (236).
TEST(Arch, WantsAsManyTensorsAsPublishedFilesHave) {
  auto qwen = tiny_model("qwen2", {.layers = 28});
  qwen.zeros("output.weight", {64, 7}, "Q8_0");
  EXPECT_EQ(qwen.tensors.size(), 339u);
  EXPECT_TRUE(config_of(qwen));
  const auto gemma = tiny_model("gemma3", {.layers = 18});
  EXPECT_EQ(gemma.tensors.size(), 236u);
  EXPECT_TRUE(config_of(gemma));
}

struct ConfigFault {
  const char* name;
  const char* part;
  void (*damage)(test::GgufBuilder& builder);
};

void put_u32(test::GgufBuilder& builder, const char* key, uint32_t value) {
  builder.put(key, test::gguf_u32(value));
}

const ConfigFault kConfigFaults[] = {
    {"no_architecture", "'general.architecture' is missing",
     [](test::GgufBuilder& b) { b.pairs.erase(b.pairs.begin()); }},
    {"no_layers", "'llama.block_count' is 0",
     [](test::GgufBuilder& b) { put_u32(b, "llama.block_count", 0); }},
    {"a_billion_layers", "'llama.block_count' is 1000000000",
     [](test::GgufBuilder& b) { put_u32(b, "llama.block_count", 1000000000); }},
    {"text_for_width", "'llama.embedding_length' should be an integer",
     [](test::GgufBuilder& b) { b.put("llama.embedding_length", test::gguf_text("64")); }},
    {"width_per_layer", "should be an integer, but is array of i32",
     [](test::GgufBuilder& b) {
       b.put("llama.feed_forward_length", test::gguf_ints({96, 96}));
     }},
    {"no_heads", "'llama.attention.head_count' is 0",
     [](test::GgufBuilder& b) { put_u32(b, "llama.attention.head_count", 0); }},
    {"heads_not_shared", "4 heads cannot share 3",
     [](test::GgufBuilder& b) { put_u32(b, "llama.attention.head_count_kv", 3); }},
    {"width_not_whole_heads", "a width of 64 cannot be divided into 6 equal heads",
     [](test::GgufBuilder& b) { put_u32(b, "llama.attention.head_count", 6); }},
    {"values_unlike_keys", "keys of 16 and values of 8",
     [](test::GgufBuilder& b) { put_u32(b, "llama.attention.value_length", 8); }},
    {"half_a_rope", "rope over 8 of the 16 elements",
     [](test::GgufBuilder& b) { put_u32(b, "llama.rope.dimension_count", 8); }},
    {"odd_heads", "rope over 15 of the 15",
     [](test::GgufBuilder& b) {
       put_u32(b, "llama.attention.key_length", 15);
       put_u32(b, "llama.attention.value_length", 15);
     }},
    {"rope_base_zero", "base 0 applies no rotation",
     [](test::GgufBuilder& b) { b.put("llama.rope.freq_base", test::gguf_f32(0)); }},
    {"epsilon_zero", "epsilon is 0",
     [](test::GgufBuilder& b) {
       b.put("llama.attention.layer_norm_rms_epsilon", test::gguf_f32(0));
     }},
    {"vocabulary_of_another_size", "'llama.vocab_size' is 8, but the vocabulary has 7",
     [](test::GgufBuilder& b) { put_u32(b, "llama.vocab_size", 8); }},
    {"embedding_of_another_size", "'token_embd.weight' is 64x7, but should be 64x6",
     [](test::GgufBuilder& b) { test::put_tiny_vocabulary(b, 6); }},
    {"experts", "a mixture of experts ('llama.expert_count')",
     [](test::GgufBuilder& b) { put_u32(b, "llama.expert_count", 8); }},
    {"scaled_rope", "rope scaling ('llama.rope.scaling.type')",
     [](test::GgufBuilder& b) { b.put("llama.rope.scaling.type", test::gguf_text("yarn")); }},
    {"soft_caps", "soft-capped logits",
     [](test::GgufBuilder& b) { b.put("llama.final_logit_softcapping", test::gguf_f32(30)); }},
};

class BrokenConfig : public testing::TestWithParam<ConfigFault> {};

TEST_P(BrokenConfig, IsNamed) {
  auto builder = tiny_model("llama");
  GetParam().damage(builder);
  EXPECT_THAT(config_fault(builder), AllOf(HasSubstr("test.gguf"), HasSubstr(GetParam().part)));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenConfig, testing::ValuesIn(kConfigFaults),
                         [](const auto& info) { return info.param.name; });

TEST(Arch, AsksForNothingWhereAKeySaysNone) {
  auto builder = tiny_model("llama");
  builder.put("llama.rope.scaling.type", test::gguf_text("none"));
  put_u32(builder, "llama.expert_count", 0);
  EXPECT_EQ(config_fault(builder), "none");
}

TEST(Smollm2, HasTheConfigurationThatIsPublished) {
  if (!std::filesystem::exists(test::smollm2_path())) {
    GTEST_SKIP() << "run 'bash ci/setup.sh --test' first";
  }
  const auto file = GgufFile::open(test::smollm2_path());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 272u);
  const auto config = load_config(*file);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->layers, 30);
  EXPECT_EQ(config->width, 576);
  EXPECT_EQ(config->ff, 1536);
  EXPECT_EQ(config->heads, 9);
  EXPECT_EQ(config->kv_heads, 3);
  EXPECT_EQ(config->head_dim, 64);
  EXPECT_EQ(config->vocab, 49152);
  EXPECT_EQ(config->rope_base, 1e5);
  EXPECT_NEAR(config->norm_eps, 1e-5, 1e-10);
  EXPECT_TRUE(config->tied_head);
}

}  // namespace
}  // namespace clvet
