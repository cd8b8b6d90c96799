#include "runtime/check/check_language.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/check/check_record.h"
#include "runtime/check/checked_device.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

class LanguageCheck {
 public:
  LanguageCheck(const LlmConfig& config, const LlmWeights& weights, const CheckedDevice& device)
      : config_(config),
        weights_(weights),
        device_(device),
        known_(config, weights, *device.chooser),
        all_right_(device.chooser->shared_table(),
                   all_right(device.chooser->table(), device.features()), device.features()),
        hopeful_(config, weights, all_right_) {}

  DeviceCheck check() {
    DeviceCheck check = device_.described();
    if (const auto plan = known_.plan({})) {
      check.combination = plan->combination;
    }
    for (const Combination& combination : decoder_combinations({})) {
      check.combinations.push_back(check_combination(combination));
    }
    if (!check.combination && advice_.empty()) {
      advice_.emplace_back("the model runs on the host until a driver runs the kernels correctly");
    }
    check.advice = std::move(advice_);
    return check;
  }

 private:
  CombinationCheck check_combination(const Combination& combination) {
    CombinationCheck row;
    row.combination = combination;
    const auto [choices, plan] = known_.planned(combination);
    row.runs = plan.has_value();
    if (!plan) {
      row.reason = plan.error().message;
      advise(plan.error());
    }
    row.types = types_of(choices);
    row.in_buffers = buffers_of(combination, choices);
    row.head_images = std::count_if(choices.begin(), choices.end(), [](const auto& choice) {
      return choice.chosen && choice.call.matrix() == "head" &&
             form_of(choice.call, choice.chosen->variant()).storage == Storage::kImage;
    });
    auto memory = known_.memory(combination, choices);
    if (!memory) memory = hopeful_.memory(combination, hopeful_.planned(combination).choices);
    if (memory) row.memory = measured(*memory);
    return row;
  }

  void advise(const Error& error) {
    std::string text = error.code == ErrorCode::kUntested ? kAdviceToProbe : "";
    if (error.code == ErrorCode::kResourceExhausted) {
      text =
          "some combinations do not fit into the device's memory: use a smaller model, smaller "
          "weights (Q4_0, Q4_K), or --device host";
    }
    if (!text.empty() && std::find(advice_.begin(), advice_.end(), text) == advice_.end()) {
      advice_.push_back(std::move(text));
    }
  }

  std::vector<CombinationCheck::Type> types_of(std::span<const DecoderChoice> choices) const {
    std::map<std::string_view, CombinationCheck::Type> types;
    for (const DecoderChoice& choice : choices) {
      if (choice.call.matrix().empty()) continue;
      const auto parts = weights_.parts(choice.call.matrix());
      for (size_t i = 0; parts && i < parts->size(); ++i) {
        const std::string_view name = (*parts)[i]->type->name;
        CombinationCheck::Type& type =
            types.try_emplace(name, CombinationCheck::Type{std::string(name), true, {}})
                .first->second;
        if (choice.chosen || !type.opencl) continue;
        type.opencl = false;
        type.reason = choice.chosen.error().message;
      }
    }
    std::vector<CombinationCheck::Type> rows;
    for (auto& [name, row] : types) rows.push_back(std::move(row));
    return rows;
  }

  std::vector<CombinationCheck::InBuffer> buffers_of(const Combination& combination,
                                                     std::span<const DecoderChoice> choices) const {
    std::map<std::string, std::string> reasons;
    for (const auto& [call, answer, chosen] : choices) {
      if (!chosen || call.matrix().empty() || combination.weights != Storage::kImage) continue;
      if (form_of(call, chosen->variant()).storage == Storage::kImage) continue;
      reasons.emplace(call.matrix(),
                      chosen->instead_of.empty()
                          ? "it is wider or higher than the device's largest image"
                          : refusal(chosen->instead_of, chosen->verdict, chosen->why).message);
    }
    std::vector<CombinationCheck::InBuffer> rows;
    for (const auto& [matrix, reason] : reasons) rows.push_back({matrix, reason});
    return rows;
  }

  MemoryCheck measured(const DecoderMemory& memory) const {
    MemoryCheck check;
    int64_t positions = first_capacity(kRowsOfAStep);
    const DecoderMemory::Piece largest = memory.largest(positions);
    check.weight_bytes = memory.weight_bytes();
    check.start_bytes = memory.bytes(positions);
    check.largest = largest.name;
    check.largest_bytes = largest.bytes;
    const bool known = device_.features().memory > 0 && device_.features().largest_buffer > 0;
    for (;;) {
      MemoryCheck::Cache cache{positions, memory.cache_bytes(positions), std::nullopt};
      if (known) cache.fits = memory.misfit(device_.features(), positions).empty();
      check.caches.push_back(cache);
      const int64_t next = next_capacity(positions, config_);
      if (next == positions) return check;
      positions = next;
    }
  }

  const LlmConfig& config_;
  const LlmWeights& weights_;
  const CheckedDevice& device_;
  DecoderPlanner known_;
  VariantChooser all_right_;
  DecoderPlanner hopeful_;  // as if each kernel had been right
  std::vector<std::string> advice_;
};

}  // namespace

DeviceCheck check_language(const LlmConfig& config, const LlmWeights& weights,
                           const CheckedDevice& device) {
  return LanguageCheck(config, weights, device).check();
}

}  // namespace clvet
