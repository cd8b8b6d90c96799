#include "runtime/check/check_record.h"

#include <string>

#include "runtime/llm/llm_config.h"
#include "runtime/plan/combination_json.h"

namespace clvet {
namespace {

using CheckJson = nlohmann::ordered_json;

CheckJson or_null(const std::string& text) {
  return text.empty() ? CheckJson(nullptr) : CheckJson(text);
}

template <class Rows, class Row>
CheckJson list_of(const Rows& rows, const Row& row) {
  CheckJson list = CheckJson::array();
  for (const auto& item : rows) list.push_back(row(item));
  return list;
}

CheckJson config_json(const LlmConfig& config) {
  return {
      {"name", config.architecture}, {"layers", config.layers},      {"width", config.width},
      {"feed_forward", config.ff},   {"heads", config.heads},        {"kv_heads", config.kv_heads},
      {"head_dim", config.head_dim}, {"context", config.context},    {"vocabulary", config.vocab},
      {"window", config.window},     {"tied_head", config.tied_head}};
}

CheckJson tokenizer_json(const TokenizerCheck& row) {
  return {{"model", row.model},
          {"pre", or_null(row.pre)},
          {"tokens", row.tokens},
          {"merges", row.merges},
          {"special", row.special},
          {"adds_bos", row.adds_bos},
          {"chat_template", row.chat_template}};
}

CheckJson type_json(const TensorTypeCheck& row) {
  const auto use = [](const TensorTypeCheck::Use& use) {
    return CheckJson{{"as", use.as}, {"tensors", use.tensors}};
  };
  return {{"type", row.type},
          {"tensors", row.tensors},
          {"elements", row.elements},
          {"bytes", row.bytes},
          {"readable", row.readable},
          {"uses", list_of(row.uses, use)},
          {"advice", or_null(row.advice)}};
}

CheckJson memory_json(const MemoryCheck& memory) {
  const auto cache = [](const MemoryCheck::Cache& row) {
    return CheckJson{{"positions", row.positions},
                     {"bytes", row.bytes},
                     {"fits", row.fits ? CheckJson(*row.fits) : CheckJson(nullptr)}};
  };
  return {{"weight_bytes", memory.weight_bytes},
          {"start_bytes", memory.start_bytes},
          {"largest", {{"name", memory.largest}, {"bytes", memory.largest_bytes}}},
          {"caches", list_of(memory.caches, cache)}};
}

CheckJson verdict_json(const CombinationCheck::Type& row) {
  CheckJson json = {{"type", row.type}, {"opencl", row.opencl}};
  if (!row.opencl) json["reason"] = row.reason;
  return json;
}

CheckJson check_json(const CombinationCheck& row) {
  const auto in_buffer = [](const CombinationCheck::InBuffer& row) {
    return CheckJson{{"matrix", row.matrix}, {"reason", row.reason}};
  };
  CheckJson json = {{"combination", combination_json(row.combination)}, {"runs", row.runs}};
  if (!row.runs) json["reason"] = row.reason;
  json["types"] = list_of(row.types, verdict_json);
  json["memory"] = row.memory ? memory_json(*row.memory) : CheckJson(nullptr);
  json["in_buffers"] = list_of(row.in_buffers, in_buffer);
  json["head_images"] = row.head_images;
  return json;
}

CheckJson node_json(const NodeCheck& row) {
  CheckJson json = {{"name", row.name},
                    {"op", row.op},
                    {"where", to_string(row.where)},
                    {"kernel", or_null(row.kernel)}};
  if (!row.reason.empty()) json["reason"] = row.reason;
  return json;
}

CheckJson device_json(const DeviceCheck& device, bool language) {
  CheckJson json = {{"id", or_null(device.id)},
                    {"name", device.name},
                    {"memory", device.memory},
                    {"largest_allocation", device.largest_allocation},
                    {"image", {{"width", device.image_width}, {"height", device.image_height}}}};
  json["combination"] =
      device.combination ? combination_json(*device.combination) : CheckJson(nullptr);
  if (language) json["combinations"] = list_of(device.combinations, check_json);
  if (!language) json["nodes"] = list_of(device.nodes, node_json);
  json["advice"] = device.advice;
  return json;
}

}  // namespace

const char* to_string(Where where) {
  switch (where) {
    case Where::kOpenCl:
      return "opencl";
    case Where::kHost:
      return "host";
    case Where::kNeither:
      break;
  }
  return "neither";
}

std::string check_record_to_json(const CheckRecord& record) {
  CheckJson json = {{"schema", "clvet.check/1"},   {"model", record.model},
                    {"format", record.format},     {"runs", record.runs()},
                    {"findings", record.findings}, {"notes", record.notes}};
  if (record.llm) {
    const LlmCheck& llm = *record.llm;
    json["architecture"] =
        llm.config.architecture.empty() ? CheckJson(nullptr) : config_json(llm.config);
    json["tokenizer"] = llm.tokenizer ? tokenizer_json(*llm.tokenizer) : CheckJson(nullptr);
    json["types"] = list_of(llm.types, type_json);
  }
  json["devices"] = list_of(record.devices, [&](const DeviceCheck& device) {
    return device_json(device, record.llm.has_value());
  });
  return json.dump(1, ' ', false, CheckJson::error_handler_t::replace) + "\n";
}

}  // namespace clvet
