#include "reports/render/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "kernels/combination.h"
#include "reports/render/text.h"
#include "runtime/check/check_record.h"
#include "runtime/llm/llm_config.h"

namespace clvet {
namespace {

constexpr size_t kToldFindings = 20;

std::string config_text(const LlmConfig& config) {
  return fmt::format(
      "{}: {} layers, width {}, {} heads of {} ({} of keys and values), vocabulary {}, made for "
      "{} positions{}\n",
      config.architecture, config.layers, config.width, config.heads, config.head_dim,
      config.kv_heads, config.vocab, config.context,
      config.window ? fmt::format(", windows of {}", config.window) : "");
}

std::string tokenizer_text(const TokenizerCheck& row) {
  return fmt::format("tokenizer: {}{}, {} tokens, {} merges, {} special, chat template {}\n",
                     row.model, row.pre.empty() ? "" : " (" + row.pre + ")", row.tokens, row.merges,
                     row.special, row.chat_template);
}

std::string uses_text(const TensorTypeCheck& row) {
  static const std::map<std::string_view, const char*> kWords = {{"int4", "int4 weights"},
                                                                 {"int8", "int8 weights"},
                                                                 {"float", "float weights"},
                                                                 {"vector", "vectors of floats"},
                                                                 {"lookup", "a table in the file"}};
  if (!row.readable) return "cannot be read";
  std::string text;
  for (const auto& [as, tensors] : row.uses) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", kWords.at(as));
    if (row.uses.size() > 1) text += fmt::format(" ({})", tensors);
  }
  return text;
}

std::string types_text(const std::vector<TensorTypeCheck>& types) {
  std::string text = "tensor types, and what they are at memory low:\n";
  for (const TensorTypeCheck& row : types) {
    text += fmt::format("  {:<8} {:>5} tensors {:>10}   {}\n", row.type, row.tensors,
                        readable_bytes(row.bytes), uses_text(row));
    if (!row.advice.empty()) text += fmt::format("           {}\n", row.advice);
  }
  return text;
}

std::string memory_text(const MemoryCheck& memory) {
  std::string text =
      fmt::format("weights {}, largest piece {} ({})", readable_bytes(memory.weight_bytes),
                  readable_bytes(memory.largest_bytes), memory.largest);
  const MemoryCheck::Cache* best = nullptr;
  for (const MemoryCheck::Cache& cache : memory.caches) {
    if (cache.fits.value_or(true)) best = &cache;
  }
  if (!best) return text + "; does not fit";
  return text + fmt::format("; cache of {} positions {}{}", best->positions,
                            readable_bytes(best->bytes), best->fits ? ", fits" : "");
}

std::string combination_text(const CombinationCheck& row) {
  std::string text = fmt::format("  {:<28} {}\n", to_string(row.combination),
                                 row.memory ? memory_text(*row.memory) : "no kernels");
  if (!row.runs) text += fmt::format("    does not run: {}\n", row.reason);
  if (!row.in_buffers.empty()) {
    const CombinationCheck::InBuffer& first = row.in_buffers.front();
    text += fmt::format("    {} matrices stay in buffers, '{}' among them: {}\n",
                        row.in_buffers.size(), first.matrix, first.reason);
  }
  if (row.head_images > 1) {
    text +=
        fmt::format("    the head exceeds the device's images and lies in {}\n", row.head_images);
  }
  return text;
}

// One line a tensor type: in how many combinations it runs, or why in none.
std::string device_types_text(const DeviceCheck& device) {
  struct Count {
    int right = 0, all = 0;
    std::string reason;
  };
  std::map<std::string, Count> counts;
  for (const CombinationCheck& row : device.combinations) {
    for (const CombinationCheck::Type& type : row.types) {
      Count& count = counts[type.type];
      ++count.all;
      count.right += type.opencl;
      if (count.reason.empty()) count.reason = type.reason;
    }
  }
  std::string text;
  for (const auto& [type, count] : counts) {
    text += count.right > 0 ? fmt::format("  {} runs on OpenCL in {} of {} combinations\n", type,
                                          count.right, count.all)
                            : fmt::format("  {} does not run on OpenCL: {}\n", type, count.reason);
  }
  return text;
}

std::string device_title(const DeviceCheck& device) {
  if (device.memory <= 0) return device.name + "\n";
  return fmt::format("{}: {} of memory, {} at most in one piece, images up to {}x{}\n", device.name,
                     readable_bytes(device.memory), readable_bytes(device.largest_allocation),
                     device.image_width, device.image_height);
}

std::string language_text(const DeviceCheck& device) {
  std::string text = device_title(device);
  text += "  generate takes " + (device.combination ? describe(*device.combination) : "the host") +
          "\n";
  text += device_types_text(device);
  for (const CombinationCheck& row : device.combinations) text += combination_text(row);
  return text;
}

std::string nodes_text(const DeviceCheck& device, bool all_nodes) {
  std::map<Where, int> counts;
  for (const NodeCheck& node : device.nodes) ++counts[node.where];
  std::string text = fmt::format("{}: {} of {} nodes on OpenCL, {} on the host, {} on neither{}\n",
                                 device.name, counts[Where::kOpenCl], device.nodes.size(),
                                 counts[Where::kHost], counts[Where::kNeither],
                                 device.combination ? "; " + describe(*device.combination) : "");
  for (const NodeCheck& node : device.nodes) {
    if (!all_nodes && node.where == Where::kOpenCl) continue;
    text += fmt::format("  {:<28} {:<18} {:<8} {}\n", one_line(node.name, 60).substr(0, 28),
                        one_line(node.op, 40), to_string(node.where),
                        node.reason.empty() ? node.kernel : node.reason);
  }
  return text;
}

std::string findings_text(const CheckRecord& record) {
  std::string text =
      fmt::format("{}: {}\n", record.model, record.runs() ? "can run" : "cannot run as it is");
  for (size_t i = 0; i < std::min(record.findings.size(), kToldFindings); ++i) {
    text += fmt::format("  {}\n", record.findings[i]);
  }
  if (record.findings.size() > kToldFindings) {
    text += fmt::format("  and {} more (--json has all)\n", record.findings.size() - kToldFindings);
  }
  for (const std::string& note : record.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace

std::string readable_bytes(int64_t bytes) {
  const char* const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string check_text(const CheckRecord& record, bool all_nodes) {
  std::string text = findings_text(record);
  if (record.llm) {
    const LlmCheck& llm = *record.llm;
    if (!llm.config.architecture.empty()) text += config_text(llm.config);
    if (llm.tokenizer) text += tokenizer_text(*llm.tokenizer);
    if (!llm.types.empty()) text += types_text(llm.types);
  }
  for (const DeviceCheck& device : record.devices) {
    text += record.llm ? language_text(device) : nodes_text(device, all_nodes);
    for (const std::string& advice : device.advice) text += fmt::format("  advice: {}\n", advice);
  }
  return clean_utf8(text);
}

}  // namespace clvet
