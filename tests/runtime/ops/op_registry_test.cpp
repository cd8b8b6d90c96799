// Walks every OpDef of the registry.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class EveryOp : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(EveryOp, IsComplete) {
  const OpDef& def = *GetParam();
  ASSERT_FALSE(def.names.empty());
  EXPECT_NE(def.infer, nullptr);
  EXPECT_NE(def.host == nullptr, def.run == nullptr) << "one of them computes it";
  EXPECT_LE(def.since, def.until);
  EXPECT_LE(def.min_outputs, def.max_outputs);
  for (const OpName& name : def.names) {
    EXPECT_EQ(find_op(def.domain, name.text), &def) << name.text;
    EXPECT_LE(since_of(def, name.text), def.until);
  }
  for (const std::string& word : split(def.attributes, ' ')) {
    if (word.empty()) continue;
    const std::string kind = word.substr(0, word.find('='));
    ASSERT_GE(kind.size(), 3u) << word;
    EXPECT_EQ(kind[kind.size() - 2], ':') << word;
    EXPECT_NE(std::string("ifsIFStg").find(kind.back()), std::string::npos) << word;
    EXPECT_TRUE(kind == word || kind.back() == 's') << word;
  }
}

// Whatever the types and extents are, the answer is a result or one line.
TEST_P(EveryOp, AnswersOddInputsWithAResultOrOneLine) {
  const Tensor odd[] = {
      Tensor::scalar(true),
      Tensor::scalar(0.5f),
      Tensor::scalar<int64_t>(-1),
      Tensor::of<int64_t>({2}, {1, 2}),
      Tensor::of<int64_t>({0}, {}),
      Tensor::of<int64_t>({3}, {-9223372036854775807 - 1, 9223372036854775807, 0}),
      Tensor::of<int32_t>({2}, {-2147483647 - 1, -1}),
      Tensor::of<uint8_t>({1, 2}, {0, 255}),
      test::noise({0, 3}),
      test::noise({2, 3, 0, 3}),
      test::noise({1, 2, 3, 3}),
      test::noise({2, 2, 3}),
      Tensor::of<float>({2, 2}, {1, -2, 1e38f, std::numeric_limits<float>::quiet_NaN()}),
      Tensor::of<float>({3}, {-1, 0, 1}).cast(DType::kF16).value(),
      Tensor::of<float>({2, 3}, {-1, 0, 1, 1e38f, 3, 4}).cast(DType::kBF16).value(),
  };
  for (const OpName& name : GetParam()->names) {
    for (size_t count = 0; count <= 5; ++count) {
      for (size_t first = 0; first < std::size(odd); ++first) {
        for (size_t step = 0; step < std::size(odd); ++step) {
          Node node = test::make_node(std::string(name.text), count);
          node.def = GetParam();
          if (!check_node(*node.def, node)) continue;
          std::vector<Tensor> inputs;
          for (size_t i = 0; i < count; ++i)
            inputs.push_back(odd[(first + i * step) % std::size(odd)]);
          const auto outputs = test::run_op(node, inputs);
          if (!outputs) {
            EXPECT_THAT(outputs.error().message, Not(HasSubstr("\n")));
            EXPECT_NE(outputs.error().code, ErrorCode::kInternal) << outputs.error().message;
          }
          lower_node(test::make_call(node, inputs, std::vector<bool>(count, step % 2)),
                     View::kChannelsFirst);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryOp, ::testing::ValuesIn(op_defs()), [](const auto& info) {
  const OpDef& def = *info.param;
  const std::string prefix = def.domain.empty() ? "" : "Microsoft";
  return prefix + std::string(def.names.empty() ? "None" : def.names[0].text);
});

TEST(OpRegistry, HasNoNameTwice) {
  std::set<std::string> seen;
  for (const OpDef* def : op_defs()) {
    for (const auto& [name, since] : def->names) {
      EXPECT_TRUE(seen.insert(std::string(def->domain) + "::" + std::string(name)).second) << name;
    }
  }
  EXPECT_GE(seen.size(), 54u);
}

TEST(OpRegistry, KnowsOnnxsOwnDomainUnderBothNames) {
  EXPECT_EQ(find_op("ai.onnx", "Conv"), find_op("", "Conv"));
  EXPECT_EQ(find_op("com.microsoft", "Conv"), nullptr);
}

TEST(OpRegistry, KeepsTheNamesOfDomainsApart) {
  for (const char* both : {"Gelu", "Attention", "QuantizeLinear", "DequantizeLinear"}) {
    EXPECT_NE(find_op("", both), nullptr) << both;
    EXPECT_NE(find_op(kMicrosoft, both), nullptr) << both;
    EXPECT_NE(find_op("", both), find_op(kMicrosoft, both)) << both;
  }
  EXPECT_EQ(find_op("", "FusedMatMul"), nullptr);
  EXPECT_EQ(find_op("com.example", "FusedMatMul"), nullptr);
}

TEST(OpRegistry, KnowsSinceWhenEachNameIsThere) {
  const OpDef& norms = *find_op("", "GroupNormalization");
  EXPECT_EQ(since_of(norms, "GroupNormalization"), 18);
  EXPECT_EQ(since_of(norms, "InstanceNormalization"), 6);
  EXPECT_EQ(since_of(*find_op("", "BitShift"), "BitShift"), 11);
  EXPECT_EQ(since_of(*find_op("", "BitwiseAnd"), "BitwiseAnd"), 18);
}

}  // namespace
}  // namespace clvet
