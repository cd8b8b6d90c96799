// Operators that say that they write all of their output (OpDef::fills_floats), given memory that
// still holds something.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/storage.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

struct Example {
  Attributes attributes;
  std::vector<Shape> inputs;
};

const Attributes kWindow = {{"kernel_shape", test::list({3, 3})},
                            {"pads", test::list({2, 1, 0, 1})}};

// At least one of every definition; each output is large enough for memory that is kept.
const std::multimap<std::string_view, Example> kExamples = {
    {"Add", {{}, {{2, 130, 130}, {130}}}},
    {"AveragePool", {kWindow, {{2, 3, 80, 80}}}},
    {"Clip", {{}, {{200, 130}}}},
    {"Concat", {{{"axis", int64_t{1}}}, {{90, 130}, {90, 90}}}},
    {"Conv", {{{"group", int64_t{4}}}, {{1, 4, 80, 80}, {4, 1, 3, 3}, {4}}}},
    {"Conv", {kWindow, {{2, 3, 80, 80}, {5, 3, 3, 3}}}},
    {"Gemm", {{}, {{130, 70}, {70, 150}}}},
    {"Gemm", {{{"transB", int64_t{1}}}, {{2, 70}, {20000, 70}, {20000}}}},
    {"LpPool", {kWindow, {{2, 3, 80, 80}}}},
    {"MatMul", {{}, {{3, 70, 2}, {2, 150}}}},
    {"MatMul", {{}, {{20000, 40}, {40, 3}}}},
    {"MatMul", {{}, {{130, 0}, {0, 150}}}},
    {"MaxPool", {kWindow, {{2, 3, 80, 80}}}},
    {"Relu", {{}, {{200, 130}}}},
    {"Softmax", {{{"axis", int64_t{1}}}, {{20, 30, 40}}}},
    {"Softplus", {{}, {{200, 130}}}},
    {"Transpose", {{{"perm", test::list({2, 0, 1})}}, {{20, 30, 40}}}},
};

// What the next tensors of about this size are given holds `byte` everywhere.
void leave_behind(std::byte byte, const Tensor& like) {
  drop_kept_storage();
  std::vector<Tensor> tensors(4);
  for (Tensor& tensor : tensors) {
    tensor = Tensor::create(like.dtype(), like.shape()).value();
    std::memset(tensor.raw(), static_cast<int>(byte), tensor.bytes());
  }
}

TEST(UnsetOutputs, AreFilledWhateverTheirMemoryHeld) {
  for (const auto& [op, example] : kExamples) {
    SCOPED_TRACE(op);
    const Node node =
        test::make_node(std::string(op), example.inputs.size(), example.attributes, 18);
    std::vector<Tensor> inputs;
    for (const Shape& shape : example.inputs) inputs.push_back(test::noise(shape));
    const Tensor want = test::run_one(node, inputs);
    ASSERT_GE(want.bytes(), size_t{64} << 10);
    for (const int byte : {0x00, 0xff}) {
      leave_behind(static_cast<std::byte>(byte), want);
      EXPECT_TRUE(bitwise_equal(test::run_one(node, inputs), want)) << byte;
    }
  }
}

TEST(UnsetOutputs, AreTriedForEveryDefinitionThatHasThem) {
  for (const OpDef* def : op_defs()) {
    if (!def->fills_floats) continue;
    EXPECT_TRUE(std::ranges::any_of(def->names, [](const OpName& name) {
      return kExamples.contains(name.text);
    })) << def->names[0].text;
  }
}

}  // namespace
}  // namespace clvet
