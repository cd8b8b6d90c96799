#include "runtime/plan/variant_table.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"

namespace clvet {

Result<std::shared_ptr<const VariantTable>> VariantTable::embedded() {
  static const auto table = []() -> Result<std::shared_ptr<const VariantTable>> {
    CLVET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::embedded());
    return std::make_shared<const VariantTable>(std::move(catalog));
  }();
  return table;
}

VariantTable::VariantTable(Catalog catalog) : catalog_(std::move(catalog)) {
  for (const Manifest& manifest : catalog_.manifests()) {
    if (manifest.trial_only) continue;
    for (const Variant& variant : variants_of(manifest)) {
      auto program = program_of(variant);
      if (!program) continue;
      rows_.push_back(
          {variant, variant.name(), std::make_shared<const Program>(std::move(*program))});
    }
  }
  for (const TableRow& row : rows_) {
    by_name_[row.name] = &row;
    by_op_.emplace(row.variant.manifest->op, &row);
  }
}

std::vector<const TableRow*> VariantTable::for_op(std::string_view op) const {
  std::vector<const TableRow*> found;
  const auto [first, last] = by_op_.equal_range(op);
  for (auto at = first; at != last; ++at) found.push_back(at->second);
  return found;
}

const TableRow* VariantTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::string variant_key_of(std::string_view name) {
  const auto table = VariantTable::embedded();
  const TableRow* row = table ? (*table)->find(name) : nullptr;
  return row ? row->program->variant_key : std::string();
}

}  // namespace clvet
