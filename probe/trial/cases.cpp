#include "probe/trial/cases.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/device_features.h"
#include "probe/trial/blame.h"
#include "probe/trial/case_names.h"

namespace clvet {
namespace {

int rank_of(const Manifest& manifest, const std::string& device_class) {
  const auto found = manifest.rank.find(device_class);
  return found == manifest.rank.end() ? 0 : found->second;
}

// The work of a call as far as it ranks shapes: multiply-adds where the op has weights, else the
// elements that are read and written.
double work_of(const OpContract& contract, const TestShape& shape) {
  const auto roles = contract.roles(shape.dims);
  if (!roles) return 0;
  if (const double products = products_of_matrices(*roles)) return products;
  double outputs = 0, elements = 0, reduction = 0;
  for (const TensorRole& role : *roles) {
    elements += static_cast<double>(role.elements());
    if (role.kind == TensorKind::kOutput) outputs += static_cast<double>(role.elements());
    if (role.kind == TensorKind::kWeights) reduction = static_cast<double>(role.taps * role.cin);
  }
  return reduction > 0 ? outputs * reduction : elements;
}

std::string shape_limit(const Variant& variant, const TestShape& shape,
                        const DeviceFeatures& features) {
  const OpContract* contract = find_op_contract(variant.manifest->op);
  const auto roles = contract->roles(shape.dims);
  if (!roles || variant.activations != Storage::kImage) return {};
  for (const TensorRole& role : *roles) {
    if (role.kind != TensorKind::kInput && role.kind != TensorKind::kOutput) continue;
    const ImageExtent extent = activation_extent(role);
    if (extent.width > features.image_width || extent.height > features.image_height) {
      return fmt::format("an image of {}x{} texels is larger than the device allows ({}x{})",
                         extent.width, extent.height, features.image_width, features.image_height);
    }
  }
  return {};
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of the variants that serve the same op, combination and weight type, the one that ranks first; if
// that does not take every call, the next one too, and so on; and those that are for the core tier
// of this class of device whatever ranks first. Such ones of the full tier serve nothing alone. A
// processor computes images in software: there one variant that takes every call is enough.
std::vector<Variant> first_choices(const Catalog& catalog, const DeviceFeatures& features) {
  using Need = std::tuple<std::string, Combination, std::optional<WeightType>>;
  std::map<Need, std::vector<Variant>> rivals;
  for (const Manifest& manifest : catalog.manifests()) {
    const bool asked_for = !manifest.full_tier || has(manifest.core, features.device_class);
    if (manifest.trial_only || !asked_for) continue;
    for (const Variant& variant : variants_of(manifest)) {
      rivals[{manifest.op, variant.combination(), variant.weight_type}].push_back(variant);
    }
  }
  const auto worth = [&](const Variant& variant) {
    return std::pair(unsupported_reason(variant, features).empty(),
                     rank_of(*variant.manifest, features.device_class));
  };
  std::vector<Variant> chosen;
  for (auto& [need, variants] : rivals) {
    std::stable_sort(variants.begin(), variants.end(),
                     [&](const Variant& a, const Variant& b) { return worth(a) > worth(b); });
    const auto takes_all =
        std::find_if(variants.begin(), variants.end(), [&](const Variant& variant) {
          return !variant.manifest->full_tier && variant.manifest->where.empty() &&
                 worth(variant).first;
        });
    if (features.device_class == "cpu" && takes_all != variants.end() && wants_images(*takes_all)) {
      chosen.push_back(*takes_all);
      continue;
    }
    bool served = false;
    for (const Variant& variant : variants) {
      const bool more = served || variant.manifest->full_tier;
      if (more && (!has(variant.manifest->core, features.device_class) || !worth(variant).first)) {
        continue;
      }
      chosen.push_back(variant);
      served |= !more && variant.manifest->where.empty();
    }
  }
  return chosen;
}

// In the order in which the programs come first.
void group_by_program(std::vector<TrialCase>& cases) {
  std::map<std::string, size_t> first;
  for (const TrialCase& trial : cases) first.try_emplace(trial.program->key, first.size());
  std::stable_sort(cases.begin(), cases.end(), [&](const TrialCase& a, const TrialCase& b) {
    return first[a.program->key] < first[b.program->key];
  });
}

std::vector<Variant> all_variants(const Catalog& catalog) {
  std::vector<Variant> all;
  for (const Manifest& manifest : catalog.manifests()) {
    const auto variants = variants_of(manifest);
    all.insert(all.end(), variants.begin(), variants.end());
  }
  return all;
}

}  // namespace

std::vector<size_t> timed_shapes(const std::vector<double>& work) {
  std::vector<size_t> tried;
  for (size_t i = 0; i < work.size(); ++i) {
    if (work[i] > 0) tried.push_back(i);
  }
  if (tried.empty()) return {};
  const auto less = [&](size_t a, size_t b) { return work[a] < work[b]; };
  const auto least = std::min_element(tried.begin(), tried.end(), less);
  const auto most = std::max_element(tried.begin(), tried.end(), less);
  const double middle = std::sqrt(work[*least] * work[*most]);
  const auto nearest = std::min_element(tried.begin(), tried.end(), [&](size_t a, size_t b) {
    return std::fabs(std::log(work[a] / middle)) < std::fabs(std::log(work[b] / middle));
  });
  std::set<size_t> chosen;
  std::set<double> sizes;
  for (const size_t i : {*least, *nearest, *most}) {
    if (sizes.insert(work[i]).second) chosen.insert(i);
  }
  return {chosen.begin(), chosen.end()};
}

namespace {

// The tests that the manifest names, where two of them at least can be tried.
std::vector<size_t> shapes_to_time(const Manifest& manifest, const std::vector<double>& work) {
  std::vector<size_t> named;
  for (size_t i = 0; i < work.size(); ++i) {
    const auto& names = manifest.timed;
    const bool wanted =
        std::find(names.begin(), names.end(), manifest.tests[i].name) != names.end();
    if (wanted && work[i] > 0) named.push_back(i);
  }
  return named.size() >= 2 ? named : timed_shapes(work);
}

// A processor computes images in software: they are never fast there. Their larger tests took a
// tenth of the core tier's time.
void keep_least_of_images(const Variant& variant, const DeviceFeatures& features,
                          const std::vector<double>& work, std::vector<size_t>& timed) {
  constexpr size_t kOfImages = 2;
  if (features.device_class != "cpu" || !wants_images(variant) || timed.size() <= kOfImages) return;
  std::stable_sort(timed.begin(), timed.end(),
                   [&](size_t a, size_t b) { return work[a] < work[b]; });
  timed.resize(kOfImages);
}

}  // namespace

KernelMakeup makeup_of(const TrialCase& trial) {
  return {trial.program->constructs, trial.program->key};
}

void keep_cases(const std::vector<std::string>& patterns, std::vector<TrialCase>& cases) {
  if (patterns.empty()) return;
  std::erase_if(cases, [&](const TrialCase& trial) {
    return std::none_of(patterns.begin(), patterns.end(),
                        [&](const std::string& pattern) { return names_case(pattern, trial.id); });
  });
}

Result<std::vector<TrialCase>> plan_cases(const Catalog& catalog, const DeviceFeatures& features,
                                          Tier tier) {
  std::vector<TrialCase> cases;
  const auto variants =
      tier == Tier::kFull ? all_variants(catalog) : first_choices(catalog, features);
  for (const Variant& variant : variants) {
    const OpContract* contract = find_op_contract(variant.manifest->op);
    if (!contract)
      return fail(ErrorCode::kInternal, "the op {} has no contract", variant.manifest->op);
    CLVET_ASSIGN_OR_RETURN(Program program, program_of(variant));
    const auto shared = std::make_shared<const Program>(std::move(program));
    const std::string reason = unsupported_reason(variant, features);
    const size_t first = cases.size();
    std::vector<double> work;
    for (const TestShape& shape : variant.manifest->tests) {
      TrialCase row{variant.name() + "/" + shape.name, variant, &shape, shared, false, reason};
      if (row.unsupported.empty()) row.unsupported = shape_limit(variant, shape, features);
      work.push_back(row.unsupported.empty() ? work_of(*contract, shape) : 0);
      cases.push_back(std::move(row));
    }
    std::vector<size_t> timed = shapes_to_time(*variant.manifest, work);
    if (tier == Tier::kCore) keep_least_of_images(variant, features, work, timed);
    for (const size_t i : timed) cases[first + i].timed = true;
  }
  group_by_program(cases);
  return cases;
}

}  // namespace clvet
