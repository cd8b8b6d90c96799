// A language model as calls of ops (kernels/contract.h), the same wherever they run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/contract.h"
#include "runtime/llm/llm_config.h"

namespace clvet {

// What a name in DecoderCall::tensors stands for.
struct DecoderBuffer {
  std::string name;
  int64_t columns = 0;
  bool cache = false;  // a row for each position, else one for each token of a step
};

struct DecoderCall {
  std::string name;  // of the node, unique in a step
  std::string op;
  Dims dims;  // "P", the position of the step's first token, is 0: whoever runs the call sets it
  Scalars scalars;
  // Role -> buffer, matrix or vector, by name.
  std::map<std::string, std::string, std::less<>> tensors;
  int64_t first = 0;  // of the matrix's rows and of y's columns, where the call has a part of them
  std::vector<DecoderCall>
      parts;  // the calls that a fused one (fused_calls.h) stands for, in order
  // The matrix of a product; empty elsewhere, and where there are several.
  std::string matrix() const {
    const auto found = tensors.find("w");
    return found == tensors.end() ? std::string() : found->second;
  }
  // All that it reads.
  std::vector<std::string> matrices() const;
  // Whether it writes the tensor in that role; it reads all others.
  bool writes(std::string_view role) const;
};

// What all layers have as one, one layer behind the other, has '*' for the layer's number: "*.qkv".
bool is_of_all_layers(std::string_view name);
// "3.qkv" as "*.qkv"; a name of no layer as it is.
std::string of_all_layers(const std::string& name);
// "*.qkv" as that of one layer.
std::string of_layer(std::string_view of_all, int64_t layer);

// Whether the buffer has the residual stream: embeddings, to which each layer adds.
bool is_residual(const std::string& buffer);

// Every buffer of the model; "hidden" takes the embeddings, "logits" gives the answer.
std::vector<DecoderBuffer> decoder_buffers(const LlmConfig& config);

// A step of `rows` tokens with caches of `capacity` positions. With `answer` the logits behind each
// of them are computed too; plans for devices know that of one row only.
//
// Matrices: "<layer>.qkv" [(H + 2 KV) D][d], "<layer>.o", "<layer>.gate_up" [2 F][d],
// "<layer>.down", "head". Vectors: "<layer>.attn_norm", "<layer>.ffn_norm", "<layer>.q_norm",
// "<layer>.k_norm", "<layer>.attn_post_norm", "<layer>.ffn_post_norm", "<layer>.qkv_bias",
// "out_norm", "cos_global", "sin_global", "cos_local", "sin_local"; a matrix without bias has
// "zeros". A call of whole layers (fused_calls.h) has '*' for <layer>.
//
// The head, a matrix of as many rows as the vocabulary has words, is given in parts of `head_rows`
// rows where that is not 0.
std::vector<DecoderCall> decoder_calls(const LlmConfig& config, int64_t rows, int64_t capacity,
                                       bool answer, int64_t head_rows = 0);

// The name of the whole call where a matrix is given in parts, whose calls have names of their own.
std::string call_of_part(const std::string& name);

// The ops of all its calls, fused or not, those of an answer and those of a prompt.
std::set<std::string> decoder_ops(const LlmConfig& config);

}  // namespace clvet
