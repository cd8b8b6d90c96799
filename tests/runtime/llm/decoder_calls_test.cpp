#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/contract.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"

namespace clvet {
namespace {

LlmConfig small(bool gemma) {
  LlmConfig config;
  config.layers = 3;
  config.width = 64;
  config.ff = 96;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 16;
  config.context = 128;
  config.vocab = 100;
  config.norm_eps = 1e-5;
  config.rope_base = 1e4;
  config.qk_norm = config.post_norms = gemma;
  config.window = gemma ? 8 : 0;
  config.window_pattern = gemma ? 3 : 0;
  config.rope_base_local = 1e3;
  return config;
}

class DecoderCalls : public testing::TestWithParam<bool> {};

TEST_P(DecoderCalls, FitTheContractsOfTheirOps) {
  const LlmConfig config = small(GetParam());
  for (const int64_t rows : {1, 5}) {
    for (const DecoderCall& call : decoder_calls(config, rows, 32, rows == 1)) {
      const OpContract* contract = find_op_contract(call.op);
      ASSERT_NE(contract, nullptr) << call.op;
      const auto roles = contract->roles(call.dims);
      ASSERT_TRUE(roles) << call.op << ": " << roles.error().message;
      for (const TensorRole& role : *roles) {
        EXPECT_TRUE(call.tensors.contains(role.name)) << call.op << " has no " << role.name;
      }
    }
  }
}

TEST_P(DecoderCalls, AreOfTheOpsThatAreProbedForThem) {
  const LlmConfig config = small(GetParam());
  const std::set<std::string> ops = decoder_ops(config);
  for (const int64_t rows : {1, 5}) {
    for (const DecoderCall& call : decoder_calls(config, rows, 32, rows == 1)) {
      EXPECT_TRUE(ops.contains(call.op)) << call.op;
    }
  }
  std::set<std::string> expected{"attention", "attention_rope", "eltwise_binary",
                                 "gemm",      "gemv",           "gemv_fused",
                                 "glu",       "rms_norm",       "rope"};
  // Heads with norms of their own are not computed with their product.
  if (!config.qk_norm) expected.insert("attention_qkv");
  // Nor are layers one call that norms follow.
  if (!config.qk_norm && !config.post_norms) expected.insert("decoder_layers");
  EXPECT_EQ(ops, expected);
}

TEST_P(DecoderCalls, ReadNoBufferThatNothingWrote) {
  const LlmConfig config = small(GetParam());
  std::set<std::string> buffers, written = {"hidden"};
  for (const DecoderBuffer& buffer : decoder_buffers(config)) buffers.insert(buffer.name);
  for (const DecoderCall& call : decoder_calls(config, 1, 32, true)) {
    const auto roles = find_op_contract(call.op)->roles(call.dims);
    ASSERT_TRUE(roles);
    for (const TensorRole& role : *roles) {
      const std::string& name = call.tensors.find(role.name)->second;
      if (role.kind == TensorKind::kInput) {
        EXPECT_TRUE(written.contains(name)) << call.op << name;
      }
      if (role.kind == TensorKind::kOutput) written.insert(name);
      if (role.kind == TensorKind::kInput || role.kind == TensorKind::kOutput) {
        EXPECT_TRUE(buffers.contains(name)) << name;
      }
    }
  }
  EXPECT_TRUE(written.contains("logits"));
}

TEST_P(DecoderCalls, WriteRowsAsWideAsTheirBuffers) {
  const LlmConfig config = small(GetParam());
  std::map<std::string, int64_t> columns;
  for (const DecoderBuffer& buffer : decoder_buffers(config)) columns[buffer.name] = buffer.columns;
  for (const DecoderCall& call : decoder_calls(config, 5, 32, false)) {
    const auto roles = find_op_contract(call.op)->roles(call.dims);
    ASSERT_TRUE(roles);
    for (const TensorRole& role : *roles) {
      if (role.kind != TensorKind::kInput && role.kind != TensorKind::kOutput) continue;
      const std::string& name = call.tensors.find(role.name)->second;
      EXPECT_EQ(role.c, columns.at(name)) << call.op << " " << role.name;
      const bool cache = name.ends_with(".k") || name.ends_with(".v");
      EXPECT_EQ(role.n * role.h * role.w, cache ? 32 : 5) << call.op << " " << role.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderCalls, testing::Values(false, true),
                         [](const auto& row) { return row.param ? "Gemma" : "Llama"; });

TEST(DecoderCallsOfGemma, GiveTheWindowToAllLayersButTheLastOfEachPattern) {
  std::vector<int64_t> windows;
  for (const DecoderCall& call : decoder_calls(small(true), 1, 32, false)) {
    if (call.op == "attention") windows.push_back(call.dims.at("window"));
  }
  EXPECT_EQ(windows, (std::vector<int64_t>{8, 8, 0}));
}

TEST(DecoderCallsOfTheHead, CoverEachRowOnceInParts) {
  const LlmConfig config = small(false);  // of 100 words
  for (const int64_t part : {0, 1, 33, 50, 99, 100, 1000}) {
    int64_t next = 0;
    std::set<std::string> names;
    for (const DecoderCall& call : decoder_calls(config, 1, 32, true, part)) {
      EXPECT_TRUE(names.insert(call.name).second) << call.name << " twice";
      if (call.matrix() != "head") continue;
      EXPECT_EQ(call.first, next);
      EXPECT_LE(call.dims.at("N"), part ? part : 100);
      EXPECT_EQ(call.tensors.find("y")->second, "logits");
      next += call.dims.at("N");
    }
    EXPECT_EQ(next, 100) << part;
  }
}

TEST(DecoderCallsOfTheHead, AreThereForAnAnswerAlone) {
  for (const DecoderCall& call : decoder_calls(small(true), 5, 32, false)) {
    EXPECT_NE(call.matrix(), "head");
    EXPECT_NE(call.op, "gemv") << "five rows are a product of matrices";
  }
}

TEST(DecoderCalls, TakeBiasAnglesAndScalesThatTheModelHas) {
  LlmConfig config = small(true);
  config.qkv_bias = true;
  config.rope = RopeKind::kNeox;
  config.attention_scale = 0.5;
  std::vector<std::string> cosines;
  for (const DecoderCall& call : decoder_calls(config, 1, 32, true)) {
    if (call.op == "rope") {
      cosines.push_back(call.tensors.at("cosines"));
      EXPECT_EQ(call.dims.at("halves"), 1);
      EXPECT_EQ(call.dims.at("norm"), 1);
      EXPECT_NE(call.tensors.at("q_scale"), call.tensors.at("k_scale"));
    }
    if (call.op == "attention") {
      EXPECT_EQ(call.scalars.at("scale"), 0.5);
    }
    if (call.matrix().empty()) continue;
    const bool biased = call.matrix().ends_with(".qkv");
    EXPECT_EQ(call.tensors.at("bias"), biased ? call.matrix() + "_bias" : "zeros");
  }
  EXPECT_EQ(cosines, (std::vector<std::string>{"cos_local", "cos_local", "cos_global"}));
}

TEST(NamesOfLayers, HaveAStarForTheNumberWhereAllAreMeant) {
  EXPECT_EQ(of_all_layers("3.qkv"), "*.qkv");
  EXPECT_EQ(of_all_layers("31.attn_norm"), "*.attn_norm");
  EXPECT_EQ(of_layer("*.qkv", 12), "12.qkv");
  for (const char* name : {"head", "out_norm", "cos_global", "*.k", ".k", "a1.k", "zeros"}) {
    EXPECT_EQ(of_all_layers(name), name);
  }
  EXPECT_TRUE(is_of_all_layers("*.k"));
  EXPECT_FALSE(is_of_all_layers("0.k"));
}

}  // namespace
}  // namespace clvet
