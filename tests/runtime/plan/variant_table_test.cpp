#include "runtime/plan/variant_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/result.h"

namespace clvet {
namespace {

TEST(VariantTable, OfTheProgramsOwnKernelsIsOneForAllWhoAskAtOnce) {
  std::vector<const VariantTable*> seen(4);
  {
    std::vector<std::jthread> threads;
    for (const VariantTable*& table : seen)
      threads.emplace_back([&table] { table = VariantTable::embedded()->get(); });
  }
  const auto own = VariantTable::embedded();
  ASSERT_TRUE(own);
  for (const VariantTable* table : seen) EXPECT_EQ(table, own->get());
  EXPECT_FALSE((*own)->for_op("gemm").empty());
}

TEST(VariantTable, FindsEachRowByItsName) {
  const auto own = VariantTable::embedded();
  ASSERT_TRUE(own);
  for (const TableRow& row : (*own)->rows()) EXPECT_EQ((*own)->find(row.name), &row);
  EXPECT_EQ((*own)->find("none/high/-/buffer/-/-"), nullptr);
}

}  // namespace
}  // namespace clvet
