// Operators of sets below 7 against their text: what broadcast, axis and is_test say.
#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using test::set_int;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelBuilder model_of(const Shape& a, const Shape& b) {
  ModelBuilder model(6);
  model.input("a", a).input("b", b).output("y");
  return model;
}

std::vector<double> answer(const ModelBuilder& model, const std::map<std::string, Tensor>& inputs) {
  const auto graph = model.parse();
  EXPECT_TRUE(graph) << graph.error().message;
  if (!graph) return {};
  const auto run = HostExecutor(*graph).run(inputs);
  EXPECT_TRUE(run) << run.error().message;
  return run ? run->outputs.at("y").to_f64() : std::vector<double>{};
}

const Tensor kRow = Tensor::of<float>({2, 2, 1}, {1, 2, 3, 4});

TEST(OldOperators, BroadcastFromTheAxisThatTheyName) {
  ModelBuilder model = model_of({2, 2, 1}, {2});
  auto& node = model.node("Sub", {"a", "b"}, {"y"});
  set_int(node, "broadcast", 1);
  set_int(node, "axis", 0);
  EXPECT_THAT(answer(model, {{"a", kRow}, {"b", Tensor::of<float>({2}, {10, 20})}}),
              ElementsAre(-9, -8, -17, -16));
}

TEST(OldOperators, BroadcastTheLastAxesWhereTheyNameNone) {
  ModelBuilder model = model_of({2, 2, 1}, {2, 1});
  set_int(model.node("Add", {"a", "b"}, {"y"}), "broadcast", 1);
  EXPECT_THAT(answer(model, {{"a", kRow}, {"b", Tensor::of<float>({2, 1}, {10, 20})}}),
              ElementsAre(11, 22, 13, 24));
}

TEST(OldOperators, HaveASlopeForEachChannelOrOneForAll) {
  const Tensor x = Tensor::of<float>({1, 2, 2}, {-1, 2, -3, -4});
  ModelBuilder each = model_of({1, 2, 2}, {2});
  each.node("PRelu", {"a", "b"}, {"y"});
  EXPECT_THAT(answer(each, {{"a", x}, {"b", Tensor::of<float>({2}, {10, 20})}}),
              ElementsAre(-10, 2, -60, -80));
  ModelBuilder all = model_of({1, 2, 2}, {1});
  all.node("PRelu", {"a", "b"}, {"y"});
  EXPECT_THAT(answer(all, {{"a", x}, {"b", Tensor::of<float>({1}, {10})}}),
              ElementsAre(-10, 2, -30, -40));
}

TEST(OldOperators, AddARowToAProduct) {
  ModelBuilder model = model_of({1, 2}, {2, 2});
  model.input("c", {2});
  set_int(model.node("Gemm", {"a", "b", "c"}, {"y"}), "broadcast", 1);
  EXPECT_THAT(answer(model, {{"a", Tensor::of<float>({1, 2}, {1, 2})},
                             {"b", Tensor::of<float>({2, 2}, {1, 2, 3, 4})},
                             {"c", Tensor::of<float>({2}, {10, 20})}}),
              ElementsAre(17, 30));
}

TEST(OldOperators, AreRefusedWhereTheyTrain) {
  ModelBuilder model(6);
  model.input("x", {1, 2, 2}).output("y");
  for (const char* name : {"s", "b", "m", "v"}) model.constant(name, {2}, {1, 4});
  auto& node = model.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"});
  const auto refused = model.parse();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("is_test"));
  set_int(node, "is_test", 1);
  EXPECT_TRUE(model.parse());
}

TEST(OldOperators, AreRefusedWhereTheirAxisDoesNotFit) {
  ModelBuilder model = model_of({2, 2, 1}, {2, 1, 1});
  auto& node = model.node("Add", {"a", "b"}, {"y"});
  set_int(node, "broadcast", 1);
  set_int(node, "axis", 1);
  const auto graph = model.parse();
  ASSERT_TRUE(graph);
  EXPECT_FALSE(
      HostExecutor(*graph).run({{"a", kRow}, {"b", Tensor::of<float>({2, 1, 1}, {1, 2})}}));
}

}  // namespace
}  // namespace clvet
