#include "runtime/graph/extents.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;

void name_extents(ModelBuilder& model, int input, const std::vector<std::string>& names) {
  auto& shape =
      *model.graph().mutable_input(input)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < static_cast<int>(names.size()); ++i)
    if (!names[i].empty()) shape.mutable_dim(i)->set_dim_param(names[i]);
}

// x[batch, length], cache[batch, past], mask[batch, past + length]
Graph decoder() {
  ModelBuilder model;
  model.input("x", {-1, -1}).input("cache", {-1, -1}).input("mask", {-1, -1});
  model.node("Concat", {"cache", "x"}, {"c"});
  test::set_int(*model.graph().mutable_node(0), "axis", 1);
  model.node("Add", {"c", "mask"}, {"y"});
  model.output("y");
  name_extents(model, 0, {"batch", "length"});
  name_extents(model, 1, {"batch", "past"});
  name_extents(model, 2, {"batch", "past + length"});
  return model.build();
}

TEST(NamedExtents, HaveOneValueInAllInputs) {
  const auto wrong = specialise(decoder(), {{"x", {2, 3}}, {"cache", {4, 5}}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              AllOf(HasSubstr("'cache'"), HasSubstr("both 'batch'"), HasSubstr("2 and 4")));
  EXPECT_TRUE(specialise(decoder(), {{"x", {2, 3}}, {"cache", {2, 5}}, {"mask", {2, 8}}}));
}

TEST(NamedExtents, TellTheSumsOfThem) {
  const auto extents = NamedExtents::of(decoder(), {{"x", {2, 3}}, {"cache", {2, 5}}});
  ASSERT_TRUE(extents);
  EXPECT_EQ(extents->value("past + length"), 8);
  EXPECT_EQ(extents->value("past+1"), 6);
  EXPECT_EQ(extents->value("past + other"), std::nullopt);
  EXPECT_EQ(extents->value("9223372036854775807 + 1"), std::nullopt);
  const Graph graph = decoder();
  EXPECT_EQ(extents->filled(graph.values[graph.inputs[2]], {-1, -1}), (Shape{2, 8}));
}

TEST(NamedExtents, AreTakenFromWhatAUserCallsLikeThem) {
  Graph graph = decoder();
  const auto left = take_extents(graph, {{"batch", {4}}, {"length", {1}}, {"cache", {4, 0}}});
  EXPECT_EQ(left, (std::map<std::string, Shape>{{"cache", {4, 0}}}));
  EXPECT_EQ(graph.values[graph.inputs[0]].shape, (Shape{4, 1}));
  EXPECT_EQ(graph.values[graph.inputs[1]].shape, (Shape{4, -1}));
}

// "?" and the like stand for any extent.
TEST(NamedExtents, AreNotWordsThatSayNothing) {
  ModelBuilder model;
  model.input("x", {-1, -1}).node("Relu", {"x"}, {"y"});
  model.output("y");
  name_extents(model, 0, {"?", "?"});
  EXPECT_TRUE(specialise(model.build(), {{"x", {2, 3}}}));
}

}  // namespace
}  // namespace clvet
