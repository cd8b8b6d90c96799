#include "kernels/item_function.h"

#include <gmock/gmock.h>

#include <string>

#include "kernels/catalog.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ItemFunction, LeavesAKernelAsItIsThatDoesNotSayAlone) {
  const std::string text = "__kernel void f(__global float* y) { y[get_local_id(0)] = 0.0f; }\n";
  EXPECT_EQ(with_item_function(text), text);
}

TEST(ItemFunction, IsWhatTheKernelWasAndAKernelOfItsNameCallsIt) {
  EXPECT_EQ(with_item_function(
                "#line 1\n"
                "#define TWICE(v) ((v)*2)\n"
                "ALONE __kernel void f(BUFFER_OUT(y), __global const float4* restrict bias,\n"
                "                      int M) {\n"
                "  y[get_global_id(0)] = TWICE(bias[M]);\n"
                "}\n"),
            "#if ITEM_APART\n"
            "#define get_global_id(axis) item##axis\n"
            "#define get_global_size(axis) items##axis\n"
            "#endif\n"
            "#line 1\n"
            "#define TWICE(v) ((v)*2)\n"
            "ITEM_KERNEL(f)(ITEM_PLACE BUFFER_OUT(y), __global const float4* restrict bias,\n"
            "                      int M) {\n"
            "  y[get_global_id(0)] = TWICE(bias[M]);\n"
            "}\n"
            "\n"
            "#if ITEM_APART\n"
            "#undef get_global_id\n"
            "#undef get_global_size\n"
            "__kernel void f(BUFFER_OUT(y), __global const float4* restrict bias,\n"
            "                      int M) {\n"
            "  f_item(get_global_id(0), get_global_id(1), get_global_id(2), get_global_size(0), y, "
            "bias, M);\n"
            "}\n"
            "#endif\n");
}

TEST(ItemFunction, PassesOnWhatAWordOfCapitalsStandsFor) {
  const std::string text =
      with_item_function("ALONE __kernel void f(ACT_IN(x), W_ARGS, R_IN ACT_OUT(y), int M) {}\n");
  EXPECT_THAT(text, HasSubstr("get_global_size(0), x, W_ARGS_NAMES, R_IN_NAMES y, M);\n"));
}

// A barrier in a function would be reached by one item after the other.
TEST(ItemFunction, IsMadeOfNoEmbeddedKernelWhoseItemsKnowOfTheirGroup) {
  const auto catalog = Catalog::embedded();
  ASSERT_TRUE(catalog);
  int alone = 0;
  for (const Manifest& manifest : catalog->manifests()) {
    const auto program = program_of(variants_of(manifest).front());
    ASSERT_TRUE(program) << manifest.id;
    const std::string& text = *program->sources.back();
    if (text.find("ITEM_KERNEL(") == std::string::npos) continue;
    ++alone;
    EXPECT_THAT(text, AllOf(StartsWith("#if ITEM_APART\n"), Not(HasSubstr("ALONE __kernel"))))
        << manifest.id;
    for (const char* word : {"barrier(", "__local", "get_local_", "get_group_", "get_num_groups",
                             "sub_group_", "JOIN_GROUP(", "GROUP_TILE_", "KEPT_"}) {
      EXPECT_THAT(text, Not(HasSubstr(word))) << manifest.id;
    }
  }
  EXPECT_GT(alone, 60);
}

}  // namespace
}  // namespace clvet
