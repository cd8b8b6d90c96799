#include "kernels/catalog.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/hash.h"
#include "base/result.h"
#include "embedded_kernels.h"
#include "kernels/act_table.h"
#include "kernels/combination.h"
#include "kernels/manifest.h"
#include "kernels/op_trials.h"

namespace clvet {
namespace {

bool is_of_op(std::string_view path) { return path.starts_with("reference/"); }

Result<std::vector<OpTrials>> trials_of_ops(
    const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<OpTrials> ops;
  for (const auto& [path, text] : files) {
    if (!is_of_op(path)) continue;
    CLVET_ASSIGN_OR_RETURN(OpTrials trials, parse_op_trials(path, text));
    ops.push_back(std::move(trials));
  }
  return ops;
}

}  // namespace

Combination Variant::combination() const {
  Combination result;
  result.precision = precision;
  result.activations = activations;
  result.weights = weights;
  if (weight_type) {
    result.memory = *weight_type == WeightType::kFloat ? Memory::kNormal : Memory::kLow;
  }
  return result;
}

std::string Variant::name() const {
  return manifest->id + "/" + to_string(combination()) + "/" +
         (weight_type ? to_string(*weight_type) : "-");
}

Result<Catalog> Catalog::embedded() {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const EmbeddedFile& file : embedded_kernels()) {
    const bool named = file.path.starts_with("ops/") || is_of_op(file.path);
    if (named && file.path.ends_with(".json")) texts.emplace_back(file.path, file.text);
  }
  auto catalog = parse(texts);
  if (!catalog) {
    Error error = catalog.error();
    error.code = ErrorCode::kInternal;
    return tl::unexpected<Error>(std::move(error));
  }
  return catalog;
}

Result<Catalog> Catalog::parse(const std::vector<std::pair<std::string, std::string>>& files) {
  CLVET_ASSIGN_OR_RETURN(const auto ops, trials_of_ops(files));
  Catalog catalog;
  for (const auto& [path, text] : files) {
    if (is_of_op(path)) continue;
    CLVET_ASSIGN_OR_RETURN(Manifest manifest, parse_manifest(path, text, ops));
    if (catalog.find(manifest.id) != nullptr) {
      return fail(ErrorCode::kInvalidArgument, "{}: '{}' is defined twice", path, manifest.id);
    }
    catalog.manifests_.push_back(std::move(manifest));
  }
  std::sort(catalog.manifests_.begin(), catalog.manifests_.end(),
            [](const Manifest& a, const Manifest& b) { return a.id < b.id; });
  return catalog;
}

std::vector<const Manifest*> Catalog::for_op(std::string_view op) const {
  std::vector<const Manifest*> found;
  for (const Manifest& manifest : manifests_) {
    if (manifest.op == op) found.push_back(&manifest);
  }
  return found;
}

const Manifest* Catalog::find(std::string_view id) const {
  for (const Manifest& manifest : manifests_) {
    if (manifest.id == id) return &manifest;
  }
  return nullptr;
}

std::vector<Variant> variants_of(const Manifest& manifest) {
  std::vector<Variant> variants;
  for (const Precision precision : manifest.precisions) {
    for (const Storage activations : manifest.activations) {
      Variant variant{&manifest, precision, activations, std::nullopt, std::nullopt};
      if (manifest.weights.empty()) variants.push_back(variant);
      for (const Storage weights : manifest.weights) {
        for (const WeightType type : manifest.weight_types) {
          variant.weights = weights;
          variant.weight_type = type;
          variants.push_back(variant);
        }
      }
    }
  }
  return variants;
}

Result<std::string> kernel_text(std::string_view path) {
  for (const EmbeddedFile& file : embedded_kernels()) {
    if (file.path == path) return std::string(file.text);
  }
  return fail(ErrorCode::kNotFound, "clvet holds no kernel file '{}'", path);
}

std::string kernel_set() {
  static const std::string set = [] {
    Sha256 hash;
    for (const EmbeddedFile& file : embedded_kernels()) {
      hash.add_field(file.path);
      hash.add_field(with_activations(std::string(file.text)));
    }
    return hash.hex();
  }();
  return set;
}

}  // namespace clvet
