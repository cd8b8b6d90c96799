#include "runtime/plan/variant_choice.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "runtime/plan/evidence.h"

namespace clvet {
namespace {

std::vector<Precision> precisions_from(Precision first) {
  switch (first) {
    case Precision::kLow:
      return {Precision::kLow, Precision::kNormal, Precision::kHigh};
    case Precision::kNormal:
      return {Precision::kNormal, Precision::kHigh};
    case Precision::kHigh:
      break;
  }
  return {Precision::kHigh};
}

// The storages to try, the wanted ones first.
std::vector<std::pair<Storage, std::optional<Storage>>> storages_from(const Combination& wanted,
                                                                      bool has_weights) {
  std::vector<std::pair<Storage, std::optional<Storage>>> order;
  const Storage w = wanted.weights.value_or(Storage::kBuffer);
  for (const Storage activations : {wanted.activations, Storage::kBuffer}) {
    if (!has_weights) {
      order.emplace_back(activations, std::nullopt);
      continue;
    }
    order.emplace_back(activations, w);
    order.emplace_back(activations, Storage::kBuffer);
  }
  return order;
}

bool images_fit(const Variant& variant, const std::vector<TensorRole>& roles,
                const DeviceFeatures& features) {
  return std::all_of(roles.begin(), roles.end(), [&](const TensorRole& role) {
    ImageExtent extent;
    if (role.kind == TensorKind::kWeights && variant.weights == Storage::kImage) {
      extent = {weight_columns(role) / 4, weight_rows(role)};
    } else if (role.kind != TensorKind::kWeights && role.kind != TensorKind::kVector &&
               role.kind != TensorKind::kIndices && variant.activations == Storage::kImage) {
      extent = activation_extent(role);
    }
    return extent.width <= features.image_width && extent.height <= features.image_height;
  });
}

}  // namespace

VariantChooser::VariantChooser(const Catalog& catalog, DeviceEvidence evidence,
                               DeviceFeatures features, WeightType type)
    : evidence_(std::move(evidence)), features_(std::move(features)) {
  for (const Manifest& manifest : catalog.manifests()) {
    if (manifest.trial_only) continue;
    for (const Variant& variant : variants_of(manifest)) {
      if (variant.weight_type.value_or(type) != type) continue;
      auto program = program_of(variant);
      if (!program) continue;
      Row row{variant, std::make_shared<const Program>(std::move(*program)), nullptr};
      const auto found = evidence_.find(row.program->variant_key);
      if (found != evidence_.end()) row.evidence = &found->second;
      rows_.emplace(manifest.op, std::move(row));
    }
  }
}

std::vector<const VariantChooser::Row*> VariantChooser::rows(const std::string& op,
                                                             Precision precision,
                                                             Storage activations,
                                                             std::optional<Storage> weights) const {
  std::vector<const Row*> found;
  const auto [first, last] = rows_.equal_range(op);
  for (auto at = first; at != last; ++at) {
    const Variant& variant = at->second.variant;
    const bool fits = variant.precision == precision && variant.activations == activations &&
                      variant.weights == weights;
    if (fits) found.push_back(&at->second);
  }
  std::sort(found.begin(), found.end(),
            [this](const Row* a, const Row* b) { return better(*a, *b); });
  return found;
}

bool VariantChooser::better(const Row& left, const Row& right) const {
  const auto key = [this](const Row& row) {
    const bool trusted = row.evidence && row.evidence->trusted();
    const auto rank = row.variant.manifest->rank.find(features_.device_class);
    return std::tuple(trusted, trusted ? row.evidence->gflops : 0,
                      rank == row.variant.manifest->rank.end() ? 0 : rank->second);
  };
  return key(left) > key(right);
}

std::optional<ChosenVariant> VariantChooser::choose(const std::string& op, const Dims& dims,
                                                    const Scalars& scalars,
                                                    const Combination& wanted,
                                                    std::string& reason) const {
  const OpContract* contract = find_op_contract(op);
  const auto roles =
      contract ? contract->roles(dims) : Result<std::vector<TensorRole>>(std::vector<TensorRole>{});
  if (!contract || !roles) {
    reason = contract ? roles.error().message : "no kernel for " + op;
    return std::nullopt;
  }
  const bool has_weights = std::any_of(roles->begin(), roles->end(), [](const TensorRole& role) {
    return role.kind == TensorKind::kWeights;
  });
  ChosenVariant chosen;
  for (const Precision precision : precisions_from(wanted.precision)) {
    for (const auto& [activations, weights] : storages_from(wanted, has_weights)) {
      for (const Row* row : rows(op, precision, activations, weights)) {
        auto call = make_call(row->variant, dims, scalars);
        if (!call || !images_fit(row->variant, *roles, features_)) continue;
        if (row->evidence && row->evidence->trusted()) {
          chosen.variant = row->variant;
          chosen.program = row->program;
          chosen.call = std::move(*call);
          chosen.gflops = row->evidence->gflops;
          return chosen;
        }
        if (chosen.instead_of.empty()) {
          chosen.instead_of = row->variant.name();
          chosen.verdict = to_string(row->evidence ? row->evidence->worst : Verdict::kMissing);
        }
      }
    }
  }
  reason = chosen.instead_of.empty() ? "no kernel variant takes this call"
                                     : fmt::format("{} is {}", chosen.instead_of, chosen.verdict);
  return std::nullopt;
}

}  // namespace clvet
