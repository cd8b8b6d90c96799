// Llama and what shares its layers, SmolLM2 among them.
#include "runtime/llm/arch.h"
#include "runtime/llm/llm_config.h"

namespace clvet::arch_llama {

using enum Extent;

extern const ArchSpec def;
const ArchSpec def{
    .name = "llama",
    .rope = RopeKind::kNorm,
    .layer = {{"attn_norm.weight", {kWidth}},
              {"attn_q.weight", {kWidth, kQueries}},
              {"attn_k.weight", {kWidth, kKeys}},
              {"attn_v.weight", {kWidth, kKeys}},
              {"attn_output.weight", {kQueries, kWidth}},
              {"ffn_norm.weight", {kWidth}},
              {"ffn_gate.weight", {kWidth, kFf}},
              {"ffn_up.weight", {kWidth, kFf}},
              {"ffn_down.weight", {kFf, kWidth}}},
};

}  // namespace clvet::arch_llama
