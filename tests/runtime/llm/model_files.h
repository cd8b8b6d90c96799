// Tiny language models as GGUF files: every key and tensor that an architecture wants. Names and
// shapes are written down here once more; which of them an architecture has is its ArchSpec's word.
#pragma once

#include <cstdint>
#include <string>

#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet::test {

struct TinyShape {
  uint64_t layers = 2, width = 64, ff = 96, heads = 4, kv_heads = 2, head_dim = 16, vocab = 7;
};

// A GPT-2 vocabulary of single letters.
void put_tiny_vocabulary(GgufBuilder& builder, uint64_t tokens);

// Matrices are of `type`, vectors F32; all zero.
GgufBuilder tiny_model(const std::string& arch, const TinyShape& shape = {},
                       const std::string& type = "Q8_0");

// The next of deterministic numbers.
uint32_t noise(uint32_t& state);

// Every tensor F32 and random, the extents small, the context long.
GgufBuilder noisy_model(const std::string& arch, uint32_t window = 0, uint64_t vocab = 7);

// Two layers whose matrices are blocks of random bytes of that type, with scales of 1/256.
GgufBuilder quantised_model(const std::string& arch, const std::string& type);

}  // namespace clvet::test
