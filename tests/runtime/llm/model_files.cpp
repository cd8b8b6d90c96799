#include "tests/runtime/llm/model_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/gguf/block_type.h"
#include "runtime/llm/arch.h"
#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet::test {
namespace {

bool has_vector(const std::string& arch, const char* name) {
  for (const ArchSpec* spec : arch_specs()) {
    if (spec->name == arch) return spec->has(name);
  }
  return false;
}

// Vectors that some architectures' layers have, and their lengths.
std::vector<std::pair<const char*, uint64_t>> vectors_of_some(const TinyShape& shape) {
  const uint64_t keys = shape.kv_heads * shape.head_dim;
  return {{"attn_q.bias", shape.heads * shape.head_dim},
          {"attn_k.bias", keys},
          {"attn_v.bias", keys},
          {"attn_q_norm.weight", shape.head_dim},
          {"attn_k_norm.weight", shape.head_dim},
          {"post_attention_norm.weight", shape.width},
          {"post_ffw_norm.weight", shape.width}};
}

}  // namespace

void put_tiny_vocabulary(GgufBuilder& builder, uint64_t tokens) {
  std::vector<std::string> texts{"<|im_end|>"};
  for (uint64_t i = 1; i < tokens; ++i) texts.push_back(std::string(1, static_cast<char>('a' + i)));
  std::vector<int32_t> kinds(tokens, 1);
  kinds[0] = 3;
  builder.put("tokenizer.ggml.model", gguf_text("gpt2"))
      .put("tokenizer.ggml.pre", gguf_text("qwen2"))
      .put("tokenizer.ggml.tokens", gguf_texts(texts))
      .put("tokenizer.ggml.token_type", gguf_ints(kinds))
      .put("tokenizer.ggml.merges", gguf_texts({}))
      .put("tokenizer.ggml.eos_token_id", gguf_u32(0));
}

GgufBuilder tiny_model(const std::string& arch, const TinyShape& shape, const std::string& type) {
  const uint64_t d = shape.width, q = shape.heads * shape.head_dim,
                 kv = shape.kv_heads * shape.head_dim, ff = shape.ff;
  GgufBuilder builder;
  const auto number = [&](const char* key, uint64_t value) {
    builder.put(arch + key, gguf_u32(static_cast<uint32_t>(value)));
  };
  builder.put("general.architecture", gguf_text(arch));
  number(".block_count", shape.layers);
  number(".embedding_length", d);
  number(".feed_forward_length", ff);
  number(".context_length", 128);
  number(".attention.head_count", shape.heads);
  number(".attention.head_count_kv", shape.kv_heads);
  builder.put(arch + ".attention.layer_norm_rms_epsilon", gguf_f32(1e-6f));
  put_tiny_vocabulary(builder, shape.vocab);
  builder.zeros("token_embd.weight", {d, shape.vocab}, type).zeros("output_norm.weight", {d});
  for (uint64_t i = 0; i < shape.layers; ++i) {
    const auto vector = [&](const char* name, uint64_t length) {
      builder.zeros(fmt::format("blk.{}.{}", i, name), {length});
    };
    const auto matrix = [&](const char* name, uint64_t columns, uint64_t rows) {
      builder.zeros(fmt::format("blk.{}.{}", i, name), {columns, rows}, type);
    };
    vector("attn_norm.weight", d);
    matrix("attn_q.weight", d, q);
    matrix("attn_k.weight", d, kv);
    matrix("attn_v.weight", d, kv);
    matrix("attn_output.weight", q, d);
    vector("ffn_norm.weight", d);
    matrix("ffn_gate.weight", d, ff);
    matrix("ffn_up.weight", d, ff);
    matrix("ffn_down.weight", ff, d);
    for (const auto& [name, length] : vectors_of_some(shape)) {
      if (has_vector(arch, name)) vector(name, length);
    }
  }
  if (q != d) {
    number(".attention.key_length", shape.head_dim);
    number(".attention.value_length", shape.head_dim);
  }
  return builder;
}

uint32_t noise(uint32_t& state) { return state = state * 1664525u + 1013904223u; }

GgufBuilder noisy_model(const std::string& arch, uint32_t window, uint64_t vocab) {
  TinyShape shape;
  shape.width = 32;
  shape.ff = 32;
  shape.heads = 2;
  shape.kv_heads = 1;
  shape.vocab = vocab;
  GgufBuilder builder = tiny_model(arch, shape, "F32");
  builder.put(arch + ".context_length", gguf_u32(4096));
  if (window > 0) builder.put(arch + ".attention.sliding_window", gguf_u32(window));
  if (window > 0) builder.put(arch + ".attention.sliding_window_pattern", gguf_u32(2));
  uint32_t state = 7;
  for (auto& row : builder.tensors) {
    const bool scale = row.name.find("norm") != std::string::npos;
    for (size_t i = 0; i < row.data.size(); i += 4) {
      const double unit = noise(state) / 4294967296.0 - 0.5;
      const auto value = static_cast<float>(scale ? 1 + unit : unit);
      std::memcpy(row.data.data() + i, &value, 4);
    }
  }
  return builder;
}

GgufBuilder quantised_model(const std::string& arch, const std::string& type) {
  const bool k = type.ends_with("_K");
  TinyShape shape{.layers = 2, .heads = 2, .kv_heads = 1};
  shape.width = shape.ff = k ? 256 : 64;
  shape.head_dim = shape.width / 2;
  GgufBuilder builder = tiny_model(arch, shape, type);
  builder.put(arch + ".context_length", gguf_u32(4096));
  uint32_t state = 5;
  for (auto& row : builder.tensors) {
    const BlockType& block = *find_block_type(row.type);
    if (!block.quantised()) {
      for (size_t i = 0; i < row.data.size(); i += 4) {
        row.data.replace(i, 4, raw(static_cast<float>(noise(state) / 4294967296.0 + 0.5)));
      }
      continue;
    }
    for (char& byte : row.data) byte = static_cast<char>(noise(state) >> 24);
    const auto size = static_cast<size_t>(block.bytes);
    for (size_t at = 0; at < row.data.size(); at += size) {
      // K types multiply their scale by up to 6 bits: 2^-13 in place of 2^-8.
      row.data.replace(at, 2, k ? std::string("\0\x08", 2) : std::string("\0\x1c", 2));
      if (k) row.data.replace(at + 2, 2, std::string("\0\x08", 2));
      if (type == "Q4_1" || type == "Q5_1") row.data.replace(at + 2, 2, std::string("\0\xa8", 2));
    }
  }
  return builder;
}

}  // namespace clvet::test
