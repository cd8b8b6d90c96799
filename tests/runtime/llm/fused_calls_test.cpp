#include "runtime/llm/fused_calls.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/plan/variant_choice.h"  // IWYU pragma: keep
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;

bool always(const DecoderCall&, size_t) { return true; }
bool by_layers(const DecoderCall& call, size_t) { return call.op != "decoder_layers"; }
bool but_of_whole_heads(const DecoderCall& call, size_t place) {
  return by_layers(call, place) && call.op != "attention_qkv";
}

LlmConfig smollm2() {
  LlmConfig config;
  config.layers = 30;
  config.width = 576;
  config.ff = 1536;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_dim = 64;
  config.context = 2048;
  config.vocab = 49152;
  config.norm_eps = 1e-5;
  config.rope_base = 1e5;
  config.attention_scale = 0.125;
  return config;
}

LlmConfig gemma3() {
  LlmConfig config = smollm2();
  config.layers = 18;
  config.width = 640;
  config.ff = 2048;
  config.heads = 4;
  config.kv_heads = 1;
  config.head_dim = 256;
  config.rope = RopeKind::kNeox;
  config.activation = Act::kGeluTanh;
  config.qk_norm = config.post_norms = true;
  config.window = 512;
  config.window_pattern = 6;
  config.rope_base_local = 1e4;
  return config;
}

LlmConfig qwen2() {
  LlmConfig config = smollm2();
  config.layers = 24;
  config.width = 896;
  config.ff = 4864;
  config.heads = 14;
  config.kv_heads = 2;
  config.rope = RopeKind::kNeox;
  config.qkv_bias = true;
  return config;
}

std::vector<DecoderCall> fused(const LlmConfig& config, const TakesFused& takes = always) {
  return fuse(decoder_calls(config, 1, 32, true), takes);
}

TEST(FusedCalls, AreFourForALayerOfSmolLm2AndOneForTheHead) {
  EXPECT_EQ(decoder_calls(smollm2(), 1, 32, true).size(), 30 * 11 + 2u);
  EXPECT_EQ(fused(smollm2(), by_layers).size(), 30 * 4 + 1u);
  EXPECT_EQ(fused(smollm2(), but_of_whole_heads).size(), 30 * 5 + 1u);
}

TEST(FusedCalls, OfSmolLm2AreTakenByKernelsOfEachDeviceClassAndWeightType) {
  const auto chooser = test::chooser_that(test::all_pass);
  const Combination low = {Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kBuffer};
  for (const LlmConfig& config : {smollm2(), gemma3(), qwen2()}) {
    for (const DecoderCall& call : fused(config, by_layers)) {
      for (const WeightType type : {WeightType::kInt4, WeightType::kInt8}) {
        const auto chosen = chooser->choose({call.op, call.dims, call.scalars, low, type});
        EXPECT_TRUE(chosen) << call.name << ": " << chosen.error().message;
      }
    }
  }
}

TEST(FusedCalls, LeaveTheNormsBehindProductsApart) {
  std::vector<std::string> rows;
  for (const DecoderCall& call : fused(gemma3())) {
    if (call.name.starts_with("0.")) rows.push_back(call.op + " " + call.name);
  }
  EXPECT_THAT(rows, ElementsAre("gemv_fused 0.qkv", "attention_rope 0.attention", "gemv 0.o",
                                "rms_norm 0.attn_post_norm", "eltwise_binary 0.add_to_between",
                                "gemv_fused 0.gate_up", "gemv 0.down", "rms_norm 0.ffn_post_norm",
                                "eltwise_binary 0.add_to_hidden"));
}

TEST(FusedCalls, HaveTheTensorsOfTheirPartsInTheRolesOfTheContract) {
  const auto calls = fused(qwen2(), but_of_whole_heads);
  using Tensors = decltype(DecoderCall::tensors);
  EXPECT_EQ(calls[0].tensors, (Tensors{{"x", "hidden"},
                                       {"r", "hidden"},
                                       {"scale", "0.attn_norm"},
                                       {"w", "0.qkv"},
                                       {"bias", "0.qkv_bias"},
                                       {"y", "qkv"}}));
  EXPECT_EQ(calls[1].tensors, (Tensors{{"x", "qkv"},
                                       {"cosines", "cos_global"},
                                       {"sines", "sin_global"},
                                       {"q_scale", "zeros"},
                                       {"k_scale", "zeros"},
                                       {"k", "0.k"},
                                       {"v", "0.v"},
                                       {"new_k", "0.k"},
                                       {"new_v", "0.v"},
                                       {"y", "attended"}}));
  EXPECT_EQ(calls[2].tensors, (Tensors{{"x", "attended"},
                                       {"r", "hidden"},
                                       {"scale", "zeros"},
                                       {"w", "0.o"},
                                       {"bias", "zeros"},
                                       {"y", "between"}}));
  EXPECT_EQ(calls[3].tensors, (Tensors{{"x", "between"},
                                       {"r", "between"},
                                       {"scale", "0.ffn_norm"},
                                       {"w", "0.gate_up"},
                                       {"bias", "zeros"},
                                       {"y", "gated"}}));
  EXPECT_EQ(calls[0].dims.at("biased"), 1);
  for (const size_t product : {2, 3, 4}) EXPECT_EQ(calls[product].dims.at("biased"), 0);
  EXPECT_EQ(calls[4].tensors.at("r"), "between");
  EXPECT_EQ(calls[4].tensors.at("y"), "hidden");
  EXPECT_EQ(calls[3].dims.at("act"), static_cast<int64_t>(Act::kSilu));
  EXPECT_EQ(calls[0].scalars.at("epsilon"), 1e-5);
  EXPECT_TRUE(calls[1].writes("new_v"));
  EXPECT_FALSE(calls[1].writes("v"));
}

TEST(FusedCalls, OfAttentionTakeTheProductBeforeItWithItsNormAndItsBias) {
  const DecoderCall call = fused(qwen2(), by_layers)[0];
  EXPECT_EQ(call.op, "attention_qkv");
  EXPECT_EQ(call.name, "0.attention");
  EXPECT_EQ(call.parts.size(), 4u);
  EXPECT_EQ(call.matrix(), "0.qkv");
  EXPECT_EQ(call.tensors, (decltype(call.tensors){{"x", "hidden"},
                                                  {"norm_scale", "0.attn_norm"},
                                                  {"w", "0.qkv"},
                                                  {"bias", "0.qkv_bias"},
                                                  {"cosines", "cos_global"},
                                                  {"sines", "sin_global"},
                                                  {"k", "0.k"},
                                                  {"v", "0.v"},
                                                  {"new_k", "0.k"},
                                                  {"new_v", "0.v"},
                                                  {"y", "attended"}}));
  EXPECT_EQ(call.dims.at("N"), (14 + 2 * 2) * 64);
  EXPECT_EQ(call.dims.at("K"), 896);
  EXPECT_EQ(call.dims.at("biased"), 1);
  EXPECT_EQ(call.dims.at("halves"), 1);
  EXPECT_EQ(call.scalars.at("epsilon"), 1e-5);
  EXPECT_EQ(call.scalars.at("scale"), qwen2().attention_scale);
}

TEST(FusedCalls, OfAllLayersAreOneWhereTheLayersAreAlike) {
  const auto calls = fused(qwen2());
  ASSERT_EQ(calls.size(), 2u);
  const DecoderCall& layers = calls[0];
  EXPECT_EQ(layers.op, "decoder_layers");
  EXPECT_EQ(layers.name, "layers");
  EXPECT_EQ(calls[1].name, "head");
  EXPECT_EQ(layers.tensors, (decltype(layers.tensors){{"x", "hidden"},
                                                      {"k", "*.k"},
                                                      {"v", "*.v"},
                                                      {"cosines", "cos_global"},
                                                      {"sines", "sin_global"},
                                                      {"attn_scale", "*.attn_norm"},
                                                      {"ffn_scale", "*.ffn_norm"},
                                                      {"bias", "*.qkv_bias"},
                                                      {"w_qkv", "*.qkv"},
                                                      {"w_o", "*.o"},
                                                      {"w_gate_up", "*.gate_up"},
                                                      {"w_down", "*.down"},
                                                      {"qkv", "qkv"},
                                                      {"attended", "attended"},
                                                      {"between", "between"},
                                                      {"gated", "gated"},
                                                      {"new_k", "*.k"},
                                                      {"new_v", "*.v"},
                                                      {"y", "hidden"}}));
  EXPECT_EQ(layers.dims, (Dims{{"L", 24},
                               {"first", 0},
                               {"count", 24},
                               {"C", 896},
                               {"F", 4864},
                               {"H", 14},
                               {"KV", 2},
                               {"D", 64},
                               {"P", 0},
                               {"cap", 32},
                               {"window", 0},
                               {"halves", 1},
                               {"biased", 1},
                               {"act", static_cast<int64_t>(Act::kSilu)}}));
  EXPECT_EQ(layers.scalars, (Scalars{{"act_lo", 0.0},
                                     {"act_hi", 0.0},
                                     {"epsilon", 1e-5},
                                     {"scale", qwen2().attention_scale}}));
  EXPECT_THAT(layers.matrices(), ElementsAre("*.down", "*.gate_up", "*.o", "*.qkv"));
  EXPECT_EQ(layers.matrix(), "");
}

TEST(FusedCalls, OfAllLayersHaveElevenPartsALayer) {
  const DecoderCall layers = fused(smollm2())[0];
  EXPECT_EQ(layers.parts.size(), 30 * 11u);
  EXPECT_EQ(layers.dims.at("biased"), 0);
  EXPECT_EQ(layers.tensors.at("bias"), "zeros");
  for (const int64_t layer : {0, 17, 29}) {
    const auto parts = parts_of_layer(layers, layer);
    ASSERT_EQ(parts.size(), 11u);
    EXPECT_EQ(parts.front().name, std::to_string(layer) + ".attn_norm");
    EXPECT_EQ(parts.back().name, std::to_string(layer) + ".add_to_hidden");
  }
}

TEST(FusedCalls, OfLayersThatDifferStayApart) {
  const auto ops_of = [](const std::vector<DecoderCall>& calls) {
    std::set<std::string> ops;
    for (const DecoderCall& call : fuse(calls, always)) ops.insert(call.op);
    return ops;
  };
  const auto calls = decoder_calls(qwen2(), 1, 32, true);
  EXPECT_TRUE(ops_of(calls).contains("decoder_layers"));
  const auto changed = [&](size_t at, const auto& change) {
    auto others = calls;
    change(others[5 * 11 + at]);
    return ops_of(others).contains("decoder_layers");
  };
  EXPECT_FALSE(changed(3, [](DecoderCall& call) { call.dims["window"] = 16; }));
  EXPECT_FALSE(changed(0, [](DecoderCall& call) { call.scalars["epsilon"] = 1e-6; }));
  EXPECT_FALSE(changed(6, [](DecoderCall& call) { call.scalars["epsilon"] = 1e-6; }));
  EXPECT_FALSE(changed(1, [](DecoderCall& call) { call.tensors["bias"] = "zeros"; }));
  EXPECT_FALSE(changed(8, [](DecoderCall& call) { call.dims["act"] = 8; }));
  EXPECT_FALSE(changed(2, [](DecoderCall& call) { call.tensors["cosines"] = "cos_local"; }));
  EXPECT_FALSE(changed(9, [](DecoderCall& call) { call.tensors["w"] = "5.o"; }));
  EXPECT_FALSE(ops_of(decoder_calls(gemma3(), 1, 32, true)).contains("decoder_layers"));
  LlmConfig with_norms = qwen2();
  with_norms.qk_norm = true;
  EXPECT_FALSE(ops_of(decoder_calls(with_norms, 1, 32, true)).contains("decoder_layers"));
}

// What only the parts of a call hand on to each other is in no buffer.
TEST(FusedCalls, ReadNothingThatNoCallWrote) {
  for (const LlmConfig& config : {smollm2(), gemma3(), qwen2()}) {
    std::set<std::string> written = {"hidden"};
    for (const DecoderCall& call : fused(config)) {
      const auto roles = find_op_contract(call.op)->roles(call.dims);
      ASSERT_TRUE(roles) << roles.error().message;
      for (const TensorRole& role : *roles) {
        if (role.kind == TensorKind::kState) continue;
        const std::string& name = call.tensors.at(role.name);
        const bool cache = name.ends_with(".k") || name.ends_with(".v");
        if (role.kind == TensorKind::kInput && !cache) EXPECT_TRUE(written.contains(name)) << name;
        EXPECT_EQ(call.writes(role.name), role.kind == TensorKind::kOutput);
        if (role.kind == TensorKind::kOutput) written.insert(name);
      }
    }
    EXPECT_TRUE(written.contains("logits"));
  }
}

TEST(FusedCalls, LeaveANormApartThatSeveralProductsRead) {
  const auto calls = fuse(decoder_calls(smollm2(), 1, 32, true, 16384), always);
  std::vector<std::string> last;
  for (size_t i = calls.size() - 4; i < calls.size(); ++i) last.push_back(calls[i].op);
  EXPECT_THAT(last, ElementsAre("rms_norm", "gemv", "gemv", "gemv"));
}

TEST(FusedCalls, LeaveTheCallsOfSeveralTokensApart) {
  const auto calls = decoder_calls(smollm2(), 5, 32, false);
  EXPECT_EQ(fuse(calls, always).size(), calls.size());
}

TEST(FusedCalls, StandForTheCallsInTheirPlaceAndAreTakenOneByOne) {
  const auto calls = decoder_calls(smollm2(), 1, 32, true);
  const auto made = fuse(calls, [](const DecoderCall& call, size_t place) {
    return call.name == "3.gate_up" && place == 3 * 11 + 6 && call.parts.size() == 3;
  });
  ASSERT_EQ(made.size(), calls.size() - 2);
  std::vector<std::string> names;
  for (const DecoderCall& call : made) {
    if (call.parts.empty()) names.push_back(call.name);
    for (const DecoderCall& part : call.parts) names.push_back(part.name);
  }
  for (size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(names[i], calls[i].name);
}

}  // namespace
}  // namespace clvet
