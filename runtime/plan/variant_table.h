// Every kernel variant that may be planned, with its program, by name and by op.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"

namespace clvet {

struct TableRow {
  Variant variant;
  std::string name;  // of the variant
  std::shared_ptr<const Program> program;
};

class VariantTable {
 public:
  // Of the program's own kernels, made once a process. kInternal: a kernel is malformed.
  static Result<std::shared_ptr<const VariantTable>> embedded();
  // Keeps the catalog, which its variants point into.
  explicit VariantTable(Catalog catalog);
  VariantTable(const VariantTable&) = delete;
  VariantTable& operator=(const VariantTable&) = delete;

  const Catalog& catalog() const { return catalog_; }
  const std::vector<TableRow>& rows() const { return rows_; }
  // In the catalog's order.
  std::vector<const TableRow*> for_op(std::string_view op) const;
  // nullptr where there is none.
  const TableRow* find(std::string_view name) const;

 private:
  Catalog catalog_;
  std::vector<TableRow> rows_;
  std::map<std::string_view, const TableRow*> by_name_;
  std::multimap<std::string_view, const TableRow*> by_op_;
};

// The key of one of the program's own variants; empty where there is no such variant.
std::string variant_key_of(std::string_view name);

}  // namespace clvet
