// Qwen2 and Qwen2.5, and what is distilled into them: llama's layers with a bias on q, k and v.
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"

namespace clvet::arch_qwen2 {

using enum Extent;

extern const ArchSpec def;
const ArchSpec def{
    .name = "qwen2",
    .rope = RopeKind::kNeox,
    .layer = {{"attn_norm.weight", {kWidth}},
              {"attn_q.weight", {kWidth, kQueries}},
              {"attn_q.bias", {kQueries}},
              {"attn_k.weight", {kWidth, kKeys}},
              {"attn_k.bias", {kKeys}},
              {"attn_v.weight", {kWidth, kKeys}},
              {"attn_v.bias", {kKeys}},
              {"attn_output.weight", {kQueries, kWidth}},
              {"ffn_norm.weight", {kWidth}},
              {"ffn_gate.weight", {kWidth, kFf}},
              {"ffn_up.weight", {kWidth, kFf}},
              {"ffn_down.weight", {kFf, kWidth}}},
};

}  // namespace clvet::arch_qwen2
