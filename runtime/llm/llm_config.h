// What a transformer's file says of its shape: all that kernels and memory need to know.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/contract.h"

namespace clvet {

// Which elements of a head are turned together: neighbours (2i, 2i + 1), or halves (i, i + n / 2).
enum class RopeKind { kNorm, kNeox };

struct LlmConfig {
  std::string_view architecture;
  int64_t layers = 0;
  int64_t width = 0;  // of the residual stream
  int64_t ff = 0;     // of the feed-forward's inner part
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  int64_t context = 0;  // positions that the model was made for
  int64_t vocab = 0;
  double norm_eps = 0;
  RopeKind rope = RopeKind::kNorm;
  double rope_base = 0;        // of layers that see all positions
  double rope_base_local = 0;  // of layers with a window
  // Positions that a windowed layer sees, its own included; 0: no layer has a window. Of each
  // `window_pattern` layers the last one has none.
  int64_t window = 0, window_pattern = 0;
  Act activation = Act::kSilu;  // of the gate
  double embedding_scale = 1;   // embeddings are multiplied by it
  double attention_scale = 1;   // dot products of query and key are
  bool exceeds_half = false;    // see ArchSpec
  bool qk_norm = false;         // RMS norm of each head's query and key, before rope
  bool post_norms = false;      // norms after attention and after feed-forward, before the sum
  bool qkv_bias = false;
  bool tied_head = false;  // logits by the embedding matrix

  // The residual stream has so many times its size: embeddings and the norms before its sums are
  // multiplied by it, epsilons of the norms that read it by its square. Of a power of two that is
  // exact in float32. Other than 1 only where takes_residual_scale().
  double residual_scale = 1;

  int64_t q_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
  bool windowed(int64_t layer) const { return window > 0 && (layer + 1) % window_pattern != 0; }
  double rope_base_of(int64_t layer) const { return windowed(layer) ? rope_base_local : rope_base; }
};

// Whether `scale` is a power of two from 2^-16 to 1, and the model has norms that take it.
bool takes_residual_scale(const LlmConfig& config, double scale);

}  // namespace clvet
