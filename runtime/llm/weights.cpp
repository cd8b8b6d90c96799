#include "runtime/llm/weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/layout.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/repack.h"
#include "runtime/llm/decoder_calls.h"

namespace clvet {
namespace {

// Our name behind the layer -> the file's, behind "blk.<layer>.".
const std::map<std::string, std::vector<std::string>, std::less<>> kParts = {
    {"qkv", {"attn_q.weight", "attn_k.weight", "attn_v.weight"}},
    {"o", {"attn_output.weight"}},
    {"gate_up", {"ffn_gate.weight", "ffn_up.weight"}},
    {"down", {"ffn_down.weight"}},
    {"attn_norm", {"attn_norm.weight"}},
    {"ffn_norm", {"ffn_norm.weight"}},
    {"q_norm", {"attn_q_norm.weight"}},
    {"k_norm", {"attn_k_norm.weight"}},
    {"attn_post_norm", {"post_attention_norm.weight"}},
    {"ffn_post_norm", {"post_ffw_norm.weight"}},
    {"qkv_bias", {"attn_q.bias", "attn_k.bias", "attn_v.bias"}},
};

// One block of a row, from shorter blocks with scales of their own.
void quantise_again(std::span<const float> values, uint8_t* quants, float& scale, float& offset) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  offset = *low;
  scale = (*high - *low) / 255;
  for (size_t i = 0; i < values.size(); ++i) {
    const double steps = scale > 0 ? (values[i] - offset) / scale : 0;
    quants[i] = static_cast<uint8_t>(std::clamp(std::nearbyint(steps), 0.0, 255.0));
  }
}

WeightMatrix joined_blocks(BlockWeights&& given) {
  WeightMatrix matrix{given.rows, given.columns, given.type, std::move(given.quants), {}, {}, {}};
  if (given.block == kQuantBlock) {
    matrix.scales = std::move(given.scales);
    matrix.offsets = std::move(given.minimums);
    return matrix;
  }
  std::vector<float> values(kQuantBlock);
  const auto blocks = static_cast<size_t>(given.rows * given.columns / kQuantBlock);
  matrix.scales.resize(blocks);
  matrix.offsets.resize(blocks);
  for (size_t i = 0; i < blocks; ++i) {
    uint8_t* quants = matrix.quants.data() + i * kQuantBlock;
    for (size_t e = 0; e < values.size(); ++e) {
      const size_t at = (i * kQuantBlock + e) / static_cast<size_t>(given.block);
      values[e] = given.scales[at] * static_cast<float>(quants[e]) + given.minimums[at];
    }
    quantise_again(values, quants, matrix.scales[i], matrix.offsets[i]);
  }
  return matrix;
}

Result<WeightMatrix> read_matrix(const GgufFile& file, const GgufTensor& tensor) {
  if (tensor.type->quantised() && tensor.columns() % kQuantBlock == 0) {
    CLVET_ASSIGN_OR_RETURN(BlockWeights blocks, repack(*tensor.type, file.data(tensor),
                                                       tensor.rows(), tensor.columns()));
    return joined_blocks(std::move(blocks));
  }
  WeightMatrix matrix{tensor.rows(), tensor.columns()};
  matrix.values.resize(static_cast<size_t>(matrix.rows * matrix.columns));
  CLVET_RETURN_IF_ERROR(dequantize(*tensor.type, file.data(tensor), matrix.values));
  return matrix;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append(WeightMatrix& to, const WeightMatrix& from) {
  const bool quantised = to.type != WeightType::kFloat && from.type != WeightType::kFloat;
  if (!quantised && (to.type != from.type)) {
    to.values = to.expanded();
    to.type = WeightType::kFloat;
    append(to.values, from.expanded());
  } else if (quantised) {
    if (from.type == WeightType::kInt8) to.type = WeightType::kInt8;
    append(to.quants, from.quants);
    append(to.scales, from.scales);
    append(to.offsets, from.offsets);
  } else {
    append(to.values, from.values);
  }
  to.rows += from.rows;
}

void scale(std::span<float> values, double factor) {
  for (float& value : values) value *= static_cast<float>(factor);
}

bool is_angles(std::string_view vector) {
  return vector.starts_with("cos_") || vector.starts_with("sin_");
}

}  // namespace

WeightMatrix WeightMatrix::part(int64_t first, int64_t count) const {
  const auto slice = [&]<class T>(const std::vector<T>& from) {
    const auto row = static_cast<std::ptrdiff_t>(from.size()) / rows;
    return std::vector<T>(from.begin() + first * row, from.begin() + (first + count) * row);
  };
  return {count, columns, type, slice(quants), slice(scales), slice(offsets), slice(values)};
}

std::vector<float> WeightMatrix::expanded() const {
  if (type == WeightType::kFloat) return values;
  std::vector<float> out(quants.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t block = i / kQuantBlock;
    out[i] = scales[block] * static_cast<float>(quants[i]) + offsets[block];
  }
  return out;
}

Result<const GgufTensor*> LlmWeights::tensor(const std::string& name) const {
  const GgufTensor* found = file_.find(name);
  if (!found)
    return fail(ErrorCode::kInvalidArgument, "{}: the file has no tensor '{}'", file_.name(), name);
  return found;
}

Result<std::vector<const GgufTensor*>> LlmWeights::parts(const std::string& name) const {
  if (is_of_all_layers(name)) {
    std::vector<const GgufTensor*> all;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      CLVET_ASSIGN_OR_RETURN(const auto own, parts(of_layer(name, layer)));
      append(all, own);
    }
    return all;
  }
  std::vector<std::string> names;
  if (name == "head") {
    names = {config_.tied_head ? "token_embd.weight" : "output.weight"};
  } else if (name == "out_norm") {
    names = {"output_norm.weight"};
  } else {
    const auto dot = name.find('.');
    const auto row = dot == std::string::npos ? kParts.end() : kParts.find(name.substr(dot + 1));
    if (row == kParts.end())
      return fail(ErrorCode::kInternal, "'{}' is not a part of a language model", name);
    for (const std::string& part : row->second) {
      names.push_back("blk." + name.substr(0, dot + 1) + part);
    }
  }
  std::vector<const GgufTensor*> found;
  for (const std::string& each : names) {
    CLVET_ASSIGN_OR_RETURN(const GgufTensor* part, tensor(each));
    found.push_back(part);
  }
  return found;
}

Result<WeightMatrix> LlmWeights::matrix(const std::string& name) const {
  CLVET_ASSIGN_OR_RETURN(const auto found, parts(name));
  CLVET_ASSIGN_OR_RETURN(WeightMatrix matrix, read_matrix(file_, *found.front()));
  for (size_t i = 1; i < found.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(const WeightMatrix part, read_matrix(file_, *found[i]));
    append(matrix, part);
  }
  return matrix;
}

Result<WeightType> LlmWeights::type_of(const std::string& name) const {
  CLVET_ASSIGN_OR_RETURN(const auto found, parts(name));
  WeightType type = WeightType::kInt4;
  for (const GgufTensor* part : found) {
    const bool quantised = part->type->quantised() && part->columns() % kQuantBlock == 0;
    if (!quantised) return WeightType::kFloat;
    // A shorter block is quantised again, to 8 bits.
    if (part->type->bits == 8 || part->type->group != kQuantBlock) type = WeightType::kInt8;
  }
  return type;
}

Result<bool> LlmWeights::is_q4_0(const std::string& name) const {
  CLVET_ASSIGN_OR_RETURN(const auto found, parts(name));
  return std::all_of(found.begin(), found.end(), [](const GgufTensor* part) {
    return part->type->name == "Q4_0" && part->columns() % kQuantBlock == 0;
  });
}

Result<std::vector<float>> LlmWeights::floats(const std::string& name) const {
  CLVET_ASSIGN_OR_RETURN(const auto found, parts(name));
  std::vector<float> values;
  for (const GgufTensor* part : found) {
    std::vector<float> own(static_cast<size_t>(part->rows() * part->columns()));
    CLVET_RETURN_IF_ERROR(dequantize(*part->type, file_.data(*part), own));
    append(values, own);
  }
  return values;
}

std::vector<float> LlmWeights::angles(std::string_view name, int64_t capacity) const {
  const bool local = name.ends_with("local"), cosine = name.starts_with("cos");
  const double base = local ? config_.rope_base_local : config_.rope_base;
  const int64_t half = config_.head_dim / 2;
  std::vector<float> table(static_cast<size_t>(capacity * half));
  for (int64_t position = 0; position < capacity; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const double turn = static_cast<double>(position) *
                          std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
      table[static_cast<size_t>(position * half + i)] =
          static_cast<float>(cosine ? std::cos(turn) : std::sin(turn));
    }
  }
  return table;
}

Result<std::vector<float>> LlmWeights::vector(const std::string& name, int64_t capacity) const {
  if (is_angles(name)) return angles(name, capacity);
  if (name != "zeros") {
    CLVET_ASSIGN_OR_RETURN(std::vector<float> values, floats(name));
    if (name.ends_with("_post_norm")) scale(values, config_.residual_scale);
    return values;
  }
  CLVET_ASSIGN_OR_RETURN(const int64_t length, vector_length(name, capacity));
  return std::vector<float>(static_cast<size_t>(length), 0.f);
}

Result<int64_t> LlmWeights::vector_length(const std::string& name, int64_t capacity) const {
  if (is_angles(name)) return capacity * (config_.head_dim / 2);
  if (name == "zeros") {
    return std::max({config_.vocab, 2 * config_.ff, config_.width,
                     (config_.heads + 2 * config_.kv_heads) * config_.head_dim});
  }
  CLVET_ASSIGN_OR_RETURN(const auto found, parts(name));
  int64_t length = 0;
  for (const GgufTensor* part : found) length += part->rows() * part->columns();
  return length;
}

Result<std::vector<float>> LlmWeights::embeddings(std::span<const int32_t> ids) const {
  CLVET_ASSIGN_OR_RETURN(const GgufTensor* table, tensor("token_embd.weight"));
  const auto width = static_cast<size_t>(config_.width);
  const size_t row_bytes = table->bytes / static_cast<size_t>(table->rows());
  std::vector<float> rows(ids.size() * width);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= table->rows()) {
      return fail(ErrorCode::kInvalidArgument, "token {} is not one of the model's {} tokens",
                  ids[i], table->rows());
    }
    const auto bytes =
        file_.data(*table).subspan(static_cast<size_t>(ids[i]) * row_bytes, row_bytes);
    const std::span<float> row(rows.data() + i * width, width);
    CLVET_RETURN_IF_ERROR(dequantize(*table->type, bytes, row));
    scale(row, config_.embedding_scale);
    scale(row, config_.residual_scale);
  }
  return rows;
}

}  // namespace clvet
