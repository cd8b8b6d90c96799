// Gemma 3 (text). Files fold the 1 of Gemma's (1 + weight) norms into the weights. Five of each six
// layers see a window and turn by a base of their own; neither stands in files.
#include <cmath>

#include "kernels/contract.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"

namespace clvet::arch_gemma3 {

using enum Extent;

// The 27B model alone (62 layers) scales attention by the share of a head in the width.
static void adjust(LlmConfig& config) {
  if (config.layers != 62) return;
  const auto share = static_cast<double>(config.width) / static_cast<double>(config.heads);
  config.attention_scale = 1 / std::sqrt(share);
}

extern const ArchSpec def;
const ArchSpec def{
    .name = "gemma3",
    .rope = RopeKind::kNeox,
    .activation = Act::kGeluTanh,
    .rope_base = 1e6,
    .rope_base_local = 1e4,
    .window_pattern = 6,
    .scale_embedding = true,
    .exceeds_half = true,
    .layer = {{"attn_norm.weight", {kWidth}},
              {"attn_q.weight", {kWidth, kQueries}},
              {"attn_q_norm.weight", {kHeadDim}},
              {"attn_k.weight", {kWidth, kKeys}},
              {"attn_k_norm.weight", {kHeadDim}},
              {"attn_v.weight", {kWidth, kKeys}},
              {"attn_output.weight", {kQueries, kWidth}},
              {"post_attention_norm.weight", {kWidth}},
              {"ffn_norm.weight", {kWidth}},
              {"ffn_gate.weight", {kWidth, kFf}},
              {"ffn_up.weight", {kWidth, kFf}},
              {"ffn_down.weight", {kFf, kWidth}},
              {"post_ffw_norm.weight", {kWidth}}},
    .adjust = adjust,
};

}  // namespace clvet::arch_gemma3
