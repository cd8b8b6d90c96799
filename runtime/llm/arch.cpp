#include "runtime/llm/arch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/metadata.h"
#include "runtime/llm/llm_config.h"

namespace clvet {
namespace {

constexpr int64_t kMostLayers = 1024, kWidest = int64_t{1} << 24, kMostHeads = 4096,
                  kLongestContext = int64_t{1} << 24;

// What files can ask for and no kernel does. A number of 0 and the word "none" ask for nothing.
struct UnsupportedRow {
  std::string_view key, what;
};
constexpr UnsupportedRow kUnsupported[] = {
    {".expert_count", "a mixture of experts"},
    {".rope.scaling.type", "rope scaling"},
    {".attn_logit_softcapping", "soft-capped attention"},
    {".final_logit_softcapping", "soft-capped logits"},
    {".attention.max_alibi_bias", "ALiBi positions"},
    {".attention.clamp_kqv", "clamped queries, keys and values"},
};

const std::vector<TensorRow>& common_tensors() {
  using enum Extent;
  static const std::vector<TensorRow> rows{{"token_embd.weight", {kWidth, kVocab}},
                                           {"output_norm.weight", {kWidth}},
                                           {"output.weight", {kWidth, kVocab}, true}};
  return rows;
}

bool asks_for_something(const GgufValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value.value)) return *text != "none";
  if (const auto* number = std::get_if<uint64_t>(&value.value)) return *number != 0;
  if (const auto* number = std::get_if<int64_t>(&value.value)) return *number != 0;
  if (const auto* number = std::get_if<double>(&value.value)) return *number != 0;
  return true;
}

class ConfigReader {
 public:
  ConfigReader(const GgufFile& file, const ArchSpec& spec)
      : file_(file), data_(file.metadata()), spec_(spec) {
    config_.architecture = spec.name;
    config_.rope = spec.rope;
    config_.activation = spec.activation;
    config_.qkv_bias = spec.has("attn_q.bias");
    config_.qk_norm = spec.has("attn_q_norm.weight");
    config_.post_norms = spec.has("post_attention_norm.weight");
    config_.exceeds_half = spec.exceeds_half;
    config_.tied_head = file.find("output.weight") == nullptr;
  }

  Result<LlmConfig> read() {
    CLVET_RETURN_IF_ERROR(refuse_unsupported());
    CLVET_RETURN_IF_ERROR(read_extents());
    CLVET_RETURN_IF_ERROR(read_heads());
    CLVET_RETURN_IF_ERROR(read_rope());
    CLVET_RETURN_IF_ERROR(read_vocab());
    config_.embedding_scale =
        spec_.scale_embedding ? std::sqrt(static_cast<double>(config_.width)) : 1;
    config_.attention_scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
    if (spec_.adjust) spec_.adjust(config_);
    return config_;
  }

 private:
  std::string key(std::string_view suffix) const {
    return std::string(spec_.name) + std::string(suffix);
  }
  template <class... Args>
  tl::unexpected<Error> wrong(ErrorCode code, fmt::format_string<Args...> text,
                              Args&&... args) const {
    return fail(code, "{}: {}", file_.name(), fmt::format(text, std::forward<Args>(args)...));
  }

  Status refuse_unsupported() const {
    for (const UnsupportedRow& row : kUnsupported) {
      const GgufValue* value = data_.find(key(row.key));
      if (!value || !asks_for_something(*value)) continue;
      return wrong(
          ErrorCode::kUnsupported,
          "the model needs {} ('{}'), which clvet does not support; use a model without it",
          row.what, key(row.key));
    }
    return {};
  }

  Status read_extents() {
    CLVET_ASSIGN_OR_RETURN(config_.layers, data_.integer(key(".block_count"), 1, kMostLayers));
    CLVET_ASSIGN_OR_RETURN(config_.width, data_.integer(key(".embedding_length"), 1, kWidest));
    CLVET_ASSIGN_OR_RETURN(config_.ff, data_.integer(key(".feed_forward_length"), 1, kWidest));
    CLVET_ASSIGN_OR_RETURN(config_.context,
                           data_.integer(key(".context_length"), 1, kLongestContext));
    CLVET_ASSIGN_OR_RETURN(config_.norm_eps,
                           data_.number(key(".attention.layer_norm_rms_epsilon")));
    if (config_.norm_eps <= 0) {
      return wrong(ErrorCode::kInvalidArgument,
                   "the norm's epsilon is {}, but must be above 0; convert the model again",
                   config_.norm_eps);
    }
    return {};
  }

  Status read_heads() {
    CLVET_ASSIGN_OR_RETURN(config_.heads,
                           data_.integer(key(".attention.head_count"), 1, kMostHeads));
    CLVET_ASSIGN_OR_RETURN(config_.kv_heads, data_.integer_or(key(".attention.head_count_kv"),
                                                              config_.heads, 1, kMostHeads));
    if (config_.heads % config_.kv_heads != 0) {
      return wrong(ErrorCode::kInvalidArgument,
                   "{} heads cannot share {} key and value heads; convert the model again",
                   config_.heads, config_.kv_heads);
    }
    const bool stated = data_.has(key(".attention.key_length"));
    if (!stated && config_.width % config_.heads != 0) {
      return wrong(ErrorCode::kInvalidArgument,
                   "a width of {} cannot be divided into {} equal heads; convert the model again",
                   config_.width, config_.heads);
    }
    const int64_t even_share = config_.width / config_.heads;
    CLVET_ASSIGN_OR_RETURN(config_.head_dim, data_.integer_or(key(".attention.key_length"),
                                                              even_share, 1, kMostHeads));
    CLVET_ASSIGN_OR_RETURN(const int64_t values, data_.integer_or(key(".attention.value_length"),
                                                                  config_.head_dim, 1, kMostHeads));
    if (values != config_.head_dim) {
      return wrong(ErrorCode::kUnsupported,
                   "keys of {} and values of {} elements are not supported; use another model",
                   config_.head_dim, values);
    }
    return {};
  }

  Status read_rope() {
    CLVET_ASSIGN_OR_RETURN(const int64_t turned, data_.integer_or(key(".rope.dimension_count"),
                                                                  config_.head_dim, 0, kMostHeads));
    if (turned != config_.head_dim || turned % 2 != 0) {
      return wrong(ErrorCode::kUnsupported,
                   "rope over {} of the {} elements of a head is not supported; use another model",
                   turned, config_.head_dim);
    }
    CLVET_ASSIGN_OR_RETURN(config_.rope_base,
                           data_.number_or(key(".rope.freq_base"), spec_.rope_base));
    config_.rope_base_local = config_.rope_base;
    if (spec_.window_pattern > 0) CLVET_RETURN_IF_ERROR(read_window());
    if (config_.rope_base <= 1 || config_.rope_base_local <= 1) {
      return wrong(ErrorCode::kInvalidArgument,
                   "rope with the base {} applies no rotation; convert the model again",
                   std::min(config_.rope_base, config_.rope_base_local));
    }
    return {};
  }

  Status read_window() {
    CLVET_ASSIGN_OR_RETURN(config_.rope_base_local,
                           data_.number_or(key(".rope.local.freq_base"), spec_.rope_base_local));
    CLVET_ASSIGN_OR_RETURN(
        config_.window, data_.integer_or(key(".attention.sliding_window"), 0, 0, kLongestContext));
    CLVET_ASSIGN_OR_RETURN(config_.window_pattern,
                           data_.integer_or(key(".attention.sliding_window_pattern"),
                                            spec_.window_pattern, 1, kMostLayers));
    return {};
  }

  Status read_vocab() {
    CLVET_ASSIGN_OR_RETURN(const auto tokens, data_.strings("tokenizer.ggml.tokens"));
    if (tokens.empty() || tokens.size() > static_cast<size_t>(kWidest)) {
      return wrong(ErrorCode::kInvalidArgument,
                   "the vocabulary has {} tokens, but must have 1 to {}; convert the model again",
                   tokens.size(), kWidest);
    }
    config_.vocab = static_cast<int64_t>(tokens.size());
    CLVET_ASSIGN_OR_RETURN(const int64_t stated,
                           data_.integer_or(key(".vocab_size"), config_.vocab, 0, kLongestContext));
    if (stated != config_.vocab) {
      return wrong(
          ErrorCode::kInvalidArgument,
          "metadata key '{}' is {}, but the vocabulary has {} tokens; convert the model again",
          key(".vocab_size"), stated, config_.vocab);
    }
    return {};
  }

  const GgufFile& file_;
  const GgufMetadata& data_;
  const ArchSpec& spec_;
  LlmConfig config_;
};

int64_t extent_of(Extent extent, const LlmConfig& config) {
  switch (extent) {
    case Extent::kWidth:
      return config.width;
    case Extent::kFf:
      return config.ff;
    case Extent::kQueries:
      return config.q_width();
    case Extent::kKeys:
      return config.kv_width();
    case Extent::kHeadDim:
      return config.head_dim;
    case Extent::kVocab:
      break;
  }
  return config.vocab;
}

std::vector<int64_t> wanted_shape(const TensorRow& row, const LlmConfig& config) {
  std::vector<int64_t> shape;
  for (const Extent extent : row.shape) shape.push_back(extent_of(extent, config));
  return shape;
}

// What is wrong with a tensor that is there or should be; empty: nothing.
std::string fault_of(const std::string& name, const GgufTensor* tensor, const TensorRow& row,
                     const LlmConfig& config) {
  const std::vector<int64_t> wanted = wanted_shape(row, config);
  if (!tensor && row.optional) return {};
  if (!tensor) {
    return fmt::format("tensor '{}' is missing; it should be {}", name, describe_shape(wanted));
  }
  if (tensor->shape != wanted) {
    return fmt::format("tensor '{}' is {}, but should be {}", name, describe_shape(tensor->shape),
                       describe_shape(wanted));
  }
  if (!tensor->type->readable()) {
    return fmt::format(
        "tensor '{}' has the type {}, which clvet cannot read; quantise the model as one of {}",
        name, tensor->type->name, readable_block_types());
  }
  return {};
}

}  // namespace

bool ArchSpec::has(std::string_view tensor) const {
  return std::any_of(layer.begin(), layer.end(),
                     [&](const TensorRow& row) { return row.name == tensor; });
}

std::string arch_names() {
  std::string names;
  for (const ArchSpec* spec : arch_specs()) {
    names += (names.empty() ? "" : ", ") + std::string(spec->name);
  }
  return names;
}

Result<const ArchSpec*> arch_of(const GgufFile& file) {
  CLVET_ASSIGN_OR_RETURN(const std::string_view name,
                         file.metadata().string("general.architecture"));
  for (const ArchSpec* spec : arch_specs()) {
    if (spec->name == name) return spec;
  }
  return fail(ErrorCode::kUnsupported,
              "{}: clvet does not support the architecture '{}'; it supports {}", file.name(),
              one_line(name, 60), arch_names());
}

Result<LlmConfig> read_config(const GgufFile& file, const ArchSpec& spec) {
  return ConfigReader(file, spec).read();
}

std::vector<TensorFault> tensor_faults(const GgufFile& file, const ArchSpec& spec,
                                       const LlmConfig& config) {
  std::vector<TensorFault> faults;
  std::set<std::string, std::less<>> known;
  const auto check = [&](const std::string& name, const TensorRow& row) {
    known.insert(name);
    std::string fault = fault_of(name, file.find(name), row, config);
    if (!fault.empty()) faults.push_back({name, std::move(fault)});
  };
  for (const TensorRow& row : common_tensors()) check(std::string(row.name), row);
  for (int64_t i = 0; i < config.layers; ++i) {
    for (const TensorRow& row : spec.layer) check(fmt::format("blk.{}.{}", i, row.name), row);
  }
  for (const GgufTensor& tensor : file.tensors()) {
    if (known.contains(tensor.name)) continue;
    faults.push_back(
        {std::string(tensor.name),
         fmt::format("tensor '{}' does not belong to the architecture {} as clvet knows it",
                     tensor.name, spec.name)});
  }
  return faults;
}

Result<LlmConfig> load_config(const GgufFile& file) {
  CLVET_ASSIGN_OR_RETURN(const ArchSpec* spec, arch_of(file));
  CLVET_ASSIGN_OR_RETURN(LlmConfig config, read_config(file, *spec));
  const auto faults = tensor_faults(file, *spec, config);
  if (faults.empty()) return config;
  return fail(ErrorCode::kInvalidArgument,
              "{}: {} of its tensors do not fit the architecture {} ('clvet check' lists all); the "
              "first: {}",
              file.name(), faults.size(), spec->name, faults.front().fault);
}

}  // namespace clvet
