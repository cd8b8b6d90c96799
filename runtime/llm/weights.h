// The matrices and vectors of a language model by the names of decoder_calls.h, read from its file
// when asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/layout.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/llm_config.h"

namespace clvet {

// [rows] outputs of [columns] inputs: quantised in blocks of kQuantBlock columns, or floats.
struct WeightMatrix {
  int64_t rows = 0, columns = 0;
  WeightType type = WeightType::kFloat;
  std::vector<uint8_t> quants;         // [rows][columns]
  std::vector<float> scales, offsets;  // [rows][columns / kQuantBlock]
  std::vector<float> values;           // [rows][columns], where type is kFloat

  // `as`: the type, or kQ4_0 where the file has it so.
  QuantisedRows quantised(WeightType as) const { return {as, quants, scales, offsets}; }
  // The values that the quants mean, row by row.
  std::vector<float> expanded() const;
  // `count` rows from `first` on.
  WeightMatrix part(int64_t first, int64_t count) const;
};

class LlmWeights {
 public:
  // Both must outlive it; the file was checked against the configuration.
  LlmWeights(const GgufFile& file, const LlmConfig& config) : file_(file), config_(config) {}

  // Parts that lie in the file under names of their own are joined. Exact, but where a block is
  // shorter than kQuantBlock (Q6_K): such blocks are quantised again to 8 bits, off by at most half
  // a step of 1/255 of their range. Types that differ among the parts become 8 bits, or floats.
  Result<WeightMatrix> matrix(const std::string& name) const;
  // What the layers of `matrix` are stored as, without reading it.
  Result<WeightType> type_of(const std::string& name) const;
  // Whether the file has all of it as Q4_0, so that it can be packed as WeightType::kQ4_0, too.
  Result<bool> is_q4_0(const std::string& name) const;
  // "zeros" has room for every bias; angle tables hold `capacity` rows of head_dim / 2.
  Result<std::vector<float>> vector(const std::string& name, int64_t capacity) const;
  Result<int64_t> vector_length(const std::string& name, int64_t capacity) const;
  // What the file has a matrix or vector in, in the order of its rows; those of all layers
  // ("*.qkv") one layer behind the other.
  Result<std::vector<const GgufTensor*>> parts(const std::string& name) const;
  // Rows of the embedding, scaled as the model wants it: [ids.size()][width].
  Result<std::vector<float>> embeddings(std::span<const int32_t> ids) const;

 private:
  Result<const GgufTensor*> tensor(const std::string& name) const;
  Result<std::vector<float>> floats(const std::string& name) const;
  std::vector<float> angles(std::string_view name, int64_t capacity) const;

  const GgufFile& file_;
  const LlmConfig& config_;
};

}  // namespace clvet
