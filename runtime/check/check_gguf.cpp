#include "runtime/check/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/layout.h"
#include "probe/report/report.h"
#include "runtime/check/check_language.h"
#include "runtime/check/check_record.h"
#include "runtime/check/checked_device.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/arch.h"
#include "runtime/llm/chat.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"
#include "runtime/llm/weights.h"

namespace clvet {
namespace {

std::string advice_for(const BlockType& type, const std::vector<TensorTypeCheck::Use>& uses) {
  const auto used = [&](std::string_view as) {
    return std::any_of(uses.begin(), uses.end(), [&](const auto& use) { return use.as == as; });
  };
  if (!type.readable())
    return fmt::format("quantise the model again as one of {}", readable_block_types());
  if (type.quantised() && used("float")) {
    return "a quantised tensor that shares a matrix with float weights is expanded to float even "
           "at memory low; quantise those weights too";
  }
  if (used("float"))
    return "clvet does not quantise float weights; a Q8_0 model needs far less memory";
  if (type.quantised() && type.group != kQuantBlock) {
    return fmt::format(
        "each of its scales covers {} weights, but kernels need {}: it is quantised again to 8 "
        "bits, with an error of at most 1/510 of a block's range; Q8_0 and Q5_K are used unchanged",
        type.group, kQuantBlock);
  }
  return {};
}

// What the tensors are for a decoder, by the type's name.
std::map<std::string_view, std::vector<TensorTypeCheck::Use>> uses_of_types(
    const GgufFile& file, const LlmConfig& config, const LlmWeights& weights) {
  std::map<std::string_view, std::string> uses;  // by tensor
  for (const DecoderCall& call : decoder_calls(config, 1, 1, true)) {
    const std::string matrix = call.matrix();
    const auto parts =
        matrix.empty() ? Result<std::vector<const GgufTensor*>>{} : weights.parts(matrix);
    for (size_t i = 0; parts && i < parts->size(); ++i) {
      uses[(*parts)[i]->name] = to_string(weights.type_of(matrix).value_or(WeightType::kFloat));
    }
  }
  std::map<std::string_view, std::map<std::string, int64_t>> counts;
  for (const GgufTensor& tensor : file.tensors()) {
    const auto use = uses.find(tensor.name);
    const char* other = tensor.rows() > 1 ? "lookup" : "vector";
    ++counts[tensor.type->name][use == uses.end() ? other : use->second];
  }
  std::map<std::string_view, std::vector<TensorTypeCheck::Use>> rows;
  for (const auto& [type, words] : counts) {
    for (const auto& [as, tensors] : words) rows[type].push_back({as, tensors});
  }
  return rows;
}

std::vector<TensorTypeCheck> check_types(const GgufFile& file) {
  std::map<uint32_t, TensorTypeCheck> rows;
  for (const GgufTensor& tensor : file.tensors()) {
    TensorTypeCheck& row = rows[tensor.type->id];
    row.type = tensor.type->name;
    row.readable = tensor.type->readable();
    ++row.tensors;
    row.elements += tensor.rows() * tensor.columns();
    row.bytes += static_cast<int64_t>(tensor.bytes);
  }
  std::vector<TensorTypeCheck> checks;
  for (auto& [id, row] : rows) checks.push_back(std::move(row));
  return checks;
}

std::string type_finding(const TensorTypeCheck& row) {
  return fmt::format("clvet cannot read tensors of the type {}, of which it has {}; {}", row.type,
                     row.tensors, advice_for(*find_block_type(row.type), {}));
}

Result<TokenizerCheck> check_tokenizer(const GgufFile& file) {
  CLVET_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::create(file.metadata()));
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  TokenizerCheck check;
  check.model = vocabulary.model;
  check.pre = vocabulary.pre;
  check.tokens = static_cast<int64_t>(vocabulary.size());
  check.merges = static_cast<int64_t>(vocabulary.merges.size());
  for (const TokenKind kind : vocabulary.kinds) {
    check.special += kind == TokenKind::kControl || kind == TokenKind::kUserDefined;
  }
  check.adds_bos = vocabulary.add_bos;
  check.chat_template = chat_template_name(vocabulary.chat_template);
  return check;
}

// The config of a file whose tensors fit it; what does not becomes findings.
std::optional<LlmConfig> check_architecture(const GgufFile& file, CheckRecord& record) {
  const auto spec = arch_of(file);
  const auto config = spec ? read_config(file, **spec) : tl::unexpected(spec.error());
  if (!config) {
    record.findings.push_back(config.error().message);
    return std::nullopt;
  }
  record.llm->config = *config;
  const auto faults = tensor_faults(file, **spec, *config);
  for (const TensorFault& fault : faults) {
    const GgufTensor* tensor = file.find(fault.tensor);
    if (tensor && !tensor->type->readable()) continue;  // found by its type
    record.findings.push_back(fault.fault);
  }
  return faults.empty() ? std::optional(*config) : std::nullopt;
}

Status check_devices(const GgufFile& file, const LlmConfig& config, const Report* report,
                     CheckRecord& record) {
  const LlmWeights weights(file, config);
  const auto uses = uses_of_types(file, config, weights);
  for (TensorTypeCheck& row : record.llm->types) {
    const auto found = uses.find(row.type);
    if (found != uses.end()) row.uses = found->second;
    row.advice = advice_for(*find_block_type(row.type), row.uses);
  }
  CLVET_ASSIGN_OR_RETURN(const auto devices, checked_devices(report));
  for (std::string& note : notes_on(report)) record.notes.push_back(std::move(note));
  for (const CheckedDevice& device : devices) {
    record.devices.push_back(check_language(config, weights, device));
  }
  return {};
}

CheckRecord unreadable(const std::string& path, const Error& error) {
  CheckRecord record;
  record.model = path;
  record.format = "gguf";
  record.findings.push_back(error.message);
  return record;
}

}  // namespace

Result<CheckRecord> check_gguf(const std::string& path, const Report* report) {
  const auto file = GgufFile::open(path);
  if (!file && file.error().code == ErrorCode::kUnsupported) return unreadable(path, file.error());
  if (!file) return tl::unexpected(file.error());
  CheckRecord record;
  record.model = path;
  record.format = "gguf";
  record.llm.emplace();
  record.llm->types = check_types(*file);
  for (const TensorTypeCheck& row : record.llm->types) {
    if (!row.readable) record.findings.push_back(type_finding(row));
  }
  const auto config = check_architecture(*file, record);
  if (auto tokenizer = check_tokenizer(*file)) {
    record.llm->tokenizer = std::move(*tokenizer);
  } else {
    record.findings.push_back(fmt::format("tokenizer: {}", tokenizer.error().message));
  }
  if (config) CLVET_RETURN_IF_ERROR(check_devices(*file, *config, report, record));
  return record;
}

}  // namespace clvet
