#include "reports/render/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "reports/render/shown.h"
#include "reports/render/text.h"
#include "runtime/check/check_record.h"
#include "runtime/llm/llm_config.h"

namespace clvet {
namespace {

constexpr size_t kToldFindings = 20;

std::string config_text(const LlmConfig& config) {
  return tr("{}: {} layers, width {}, {} heads of size {} ({} for keys and values), vocabulary of "
            "{} tokens, made for {} positions{}",
            config.architecture, config.layers, config.width, config.heads, config.head_dim,
            config.kv_heads, config.vocab, config.context,
            config.window ? tr(", sliding window of {} positions", config.window) : "") +
         "\n";
}

std::string tokenizer_text(const TokenizerCheck& row) {
  return tr("tokenizer: {}{}, {} tokens, {} merges, {} special tokens, chat template: {}",
            row.model, row.pre.empty() ? "" : " (" + row.pre + ")", row.tokens, row.merges,
            row.special, translated(row.chat_template)) +
         "\n";
}

std::string uses_text(const TensorTypeCheck& row) {
  static const std::map<std::string_view, const char*> kWords = {
      {"int4", "int4 weights"},
      {"int8", "int8 weights"},
      {"float", "float weights"},
      {"vector", "float vectors"},
      {"lookup", "a table that stays in the file"}};
  if (!row.readable) return tr("cannot be read");
  std::string text;
  for (const auto& [as, tensors] : row.uses) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", translated(kWords.at(as)));
    if (row.uses.size() > 1) text += fmt::format(" ({})", tensors);
  }
  return text;
}

std::string types_text(const std::vector<TensorTypeCheck>& types) {
  std::string text = tr("tensor types, and what '--memory low' makes of them:") + "\n";
  for (const TensorTypeCheck& row : types) {
    text += tr("  {:<8} {:>5} tensors {:>10}   {}", row.type, row.tensors,
               readable_bytes(row.bytes), uses_text(row)) +
            "\n";
    if (!row.advice.empty()) text += fmt::format("           {}\n", translated(row.advice));
  }
  return text;
}

std::string memory_text(const MemoryCheck& memory) {
  std::string text =
      tr("weights {}, largest allocation {} ({})", readable_bytes(memory.weight_bytes),
         readable_bytes(memory.largest_bytes), translated(memory.largest));
  const MemoryCheck::Cache* best = nullptr;
  for (const MemoryCheck::Cache& cache : memory.caches) {
    if (cache.fits.value_or(true)) best = &cache;
  }
  if (!best) return text + tr("; does not fit");
  text += tr("; cache of {} positions: {}", best->positions, readable_bytes(best->bytes));
  return text + (best->fits ? tr(", fits") : "");
}

std::string combination_text(const CombinationCheck& row) {
  std::string text = fmt::format("  {:<28} {}\n", to_string(row.combination),
                                 row.memory ? memory_text(*row.memory) : tr("no kernels"));
  if (!row.runs) text += tr("    does not run: {}", translated(row.reason)) + "\n";
  if (!row.in_buffers.empty()) {
    const CombinationCheck::InBuffer& first = row.in_buffers.front();
    text += tr("    {} matrices stay in buffers, for example '{}': {}", row.in_buffers.size(),
               first.matrix, translated(first.reason)) +
            "\n";
  }
  if (row.head_images > 1)
    text += tr("    the head is split across {} images", row.head_images) + "\n";
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
    text += count.right > 0
                ? tr("  {} runs on OpenCL in {} of {} combinations", type, count.right, count.all)
                : tr("  {} does not run on OpenCL: {}", type, translated(count.reason));
    text += "\n";
  }
  return text;
}

// Without a report it is no name but a sentence.
std::string name_of(const DeviceCheck& device) {
  return device.id.empty() ? translated(device.name) : device.name;
}

std::string device_title(const DeviceCheck& device) {
  if (device.memory <= 0) return name_of(device) + "\n";
  return tr("{}: {} of memory, at most {} in one allocation, images up to {}x{}", name_of(device),
            readable_bytes(device.memory), readable_bytes(device.largest_allocation),
            device.image_width, device.image_height) +
         "\n";
}

std::string language_text(const DeviceCheck& device) {
  std::string text = device_title(device);
  text += tr("  'clvet generate' uses: {}",
             device.combination ? describe(*device.combination) : tr("the host")) +
          "\n";
  text += device_types_text(device);
  for (const CombinationCheck& row : device.combinations) text += combination_text(row);
  return text;
}

std::string nodes_text(const DeviceCheck& device, bool all_nodes) {
  std::map<Where, int> counts;
  for (const NodeCheck& node : device.nodes) ++counts[node.where];
  std::string text =
      tr("{}: {} of {} nodes on OpenCL, {} on the host, {} on neither{}", name_of(device),
         counts[Where::kOpenCl], device.nodes.size(), counts[Where::kHost], counts[Where::kNeither],
         device.combination ? "; " + describe(*device.combination) : "") +
      "\n";
  for (const NodeCheck& node : device.nodes) {
    if (!all_nodes && node.where == Where::kOpenCl) continue;
    text += fmt::format("  {:<28} {:<18} {:<8} {}\n", one_line(node.name, 60).substr(0, 28),
                        one_line(node.op, 40), shown(node.where),
                        node.reason.empty() ? node.kernel : translated(node.reason));
  }
  return text;
}

std::string findings_text(const CheckRecord& record) {
  std::string text = fmt::format("{}: {}\n", record.model,
                                 record.runs() ? tr("can run") : tr("cannot run without a change"));
  for (size_t i = 0; i < std::min(record.findings.size(), kToldFindings); ++i) {
    text += fmt::format("  {}\n", translated(record.findings[i]));
  }
  if (record.findings.size() > kToldFindings) {
    text += tr("  and {} more (--json lists all)", record.findings.size() - kToldFindings) + "\n";
  }
  for (const std::string& note : record.notes) text += tr("note: {}", translated(note)) + "\n";
  return text;
}

}  // namespace

std::string readable_bytes(int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
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
    for (const std::string& advice : device.advice)
      text += tr("  advice: {}", translated(advice)) + "\n";
  }
  return clean_utf8(text);
}

}  // namespace clvet
