// The architectures of language models that are known: one ArchSpec a file in runtime/llm/arch/,
// found by the name that GGUF files give in "general.architecture".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/llm_config.h"

namespace clvet {

enum class Extent { kWidth, kFf, kQueries, kKeys, kHeadDim, kVocab };

struct TensorRow {
  std::string_view name;      // below "blk.N." for those of a layer: "attn_q.weight"
  std::vector<Extent> shape;  // as files have it: the length of a row (inputs) first
  bool optional = false;
};

struct ArchSpec {
  std::string_view name;
  RopeKind rope = RopeKind::kNorm;
  Act activation = Act::kSilu;
  double rope_base = 10000;  // where the file states none
  double rope_base_local = 0;
  int64_t window_pattern = 0;    // where the file states none; 0: the architecture has no windows
  bool scale_embedding = false;  // by the square root of the width
  // Published weights make values beyond half's 65504: planned at precision high, unless another
  // one is asked for.
  bool exceeds_half = false;
  // Of each layer. What a layer has follows from its tensors: q/k/v bias, norms of q and k, norms
  // after attention and feed-forward.
  std::vector<TensorRow> layer;
  // What no row says; may be null.
  void (*adjust)(LlmConfig& config) = nullptr;

  bool has(std::string_view tensor) const;
};

// Every architecture, by file name. Generated from runtime/llm/arch/.
const std::vector<const ArchSpec*>& arch_specs();
// Their names with commas between them: "gemma3, llama".
std::string arch_names();
// The architecture of a file. kUnsupported names it and those that are known.
Result<const ArchSpec*> arch_of(const GgufFile& file);

// The hyper-parameters. Extents are bounded, so that no product that memory needs (layers, heads,
// their length and the context among them) overflows.
// kInvalidArgument: a key is missing or makes no sense; kUnsupported: the file asks for something
// that is not implemented (experts, scaled rope, soft-capped logits, ...), which is named.
Result<LlmConfig> read_config(const GgufFile& file, const ArchSpec& spec);

struct TensorFault {
  std::string tensor,
      fault;  // "output.weight", "tensor 'output.weight' is missing; it should be ..."
};
// Every tensor that is missing, of another shape, of a type that cannot be read, or unknown to the
// architecture (ignoring it would give wrong answers). Empty: the file fits.
std::vector<TensorFault> tensor_faults(const GgufFile& file, const ArchSpec& spec,
                                       const LlmConfig& config);

// All of the above: the config of a file that fits, or the first fault; of tensors, how many there
// are and the first few.
Result<LlmConfig> load_config(const GgufFile& file);

}  // namespace clvet
