// Sessions without a device.
#include "runtime/exec/session.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;

using Inputs = std::map<std::string, Tensor>;

Session host_session(const Graph& graph) {
  auto session = Session::create(graph, plan_on_host(graph, "test"), nullptr);
  EXPECT_TRUE(session) << session.error().message;
  return std::move(*session);
}

// y = (x + x) * x, with an optional input and output left out on the way.
Graph square_graph() {
  ModelBuilder model;
  model.input("x", {2}).constant("top", {}, {9});
  model.node("Add", {"x", "x"}, {"a"});
  model.node("Clip", {"a", "", "top"}, {"c"});
  model.node("Dropout", {"c"}, {"d", ""});
  model.node("Mul", {"d", "x"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  EXPECT_TRUE(infer_and_fold(graph));
  return graph;
}

TEST(Session, RunsTheSameGraphAgainWithOtherValues) {
  Session session = host_session(square_graph());
  const std::pair<Tensor, std::vector<float>> rows[] = {
      {Tensor::of<float>({2}, {1, -3}), {2, 18}},
      {Tensor::of<float>({2}, {4, 5}), {32, 45}},
      {Tensor::of<float>({2}, {1, -3}), {2, 18}},
  };
  for (const auto& [x, want] : rows) {
    const auto outputs = session.run({{"x", x}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(test::floats(outputs->at("y")), want);
  }
}

TEST(Session, NamesAnInputThatIsMissing) {
  const auto outputs = host_session(square_graph()).run({{"z", Tensor::scalar(1.f)}});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(outputs.error().message, HasSubstr("input 'x' is missing"));
}

TEST(Session, TimesEachNodeWhereItIsAskedTo) {
  NodeTimes times{.ms = {99}};
  const Graph graph = square_graph();
  ASSERT_TRUE(host_session(graph).run({{"x", Tensor::of<float>({2}, {1, 2})}}, &times));
  EXPECT_EQ(times.ms.size(), graph.nodes.size());
  EXPECT_THAT(times.ms, Each(Ge(0)));
  EXPECT_NE(times.ms[0], 99);
}

TEST(Session, StopsBeforeAStepThatWouldBeginTooLate) {
  Session session = host_session(square_graph());
  const Inputs inputs = {{"x", Tensor::of<float>({2}, {1, 2})}};
  for (const double late : {0.0, -std::numeric_limits<double>::infinity()}) {
    const auto outputs = session.run(inputs, nullptr, late);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, ErrorCode::kDeadlineExceeded);
  }
  EXPECT_TRUE(session.run(inputs, nullptr, monotonic_seconds() + 1000)) << "it still runs";
}

TEST(Session, WithKernelsNeedsADevice) {
  const Graph graph = square_graph();
  ExecutionPlan plan = plan_on_host(graph, "test");
  plan.phases[0].steps[0].kind = StepKind::kKernel;
  const auto session = Session::create(graph, plan, nullptr);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kInternal);
}

TEST(Session, NamesTheNodeThatFails) {
  ModelBuilder model;
  model.constant("table", {2, 1}, {1, 2}).input("ids", {2}, 7);
  model.node("Gather", {"table", "ids"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  Session session = host_session(graph);
  for (const int64_t wrong : {int64_t{2}, int64_t{-3}, INT64_MIN, INT64_MAX}) {
    const auto outputs = session.run({{"ids", Tensor::of<int64_t>({2}, {0, wrong})}});
    ASSERT_FALSE(outputs) << wrong;
    EXPECT_THAT(outputs.error().message, HasSubstr("node 'Gather_y'"));
  }
  const auto right = session.run({{"ids", Tensor::of<int64_t>({2}, {-1, 0})}});
  ASSERT_TRUE(right);
  EXPECT_THAT(test::floats(right->at("y")), ElementsAre(2, 1));
}

// Inputs that decided shapes are part of the plan: other values of them are another plan.
class GivenInput : public ::testing::Test {
 protected:
  void SetUp() override {
    ModelBuilder model;
    model.input("x", {6}).input("shape", {2}, 7);
    model.node("Reshape", {"x", "shape"}, {"y"});
    model.output("y");
    const auto graph = specialise(model.build(), {}, {{"shape", shape_}});
    ASSERT_TRUE(graph) << graph.error().message;
    graph_ = *graph;
  }
  Result<std::map<std::string, Tensor>> run(const Inputs& shape) {
    Inputs inputs = {{"x", test::noise({6})}};
    inputs.insert(shape.begin(), shape.end());
    return host_session(graph_).run(inputs);
  }
  const Tensor shape_ = Tensor::of<int64_t>({2}, {2, 3});
  Graph graph_;
};

TEST_F(GivenInput, IsTakenAgainByIdentityOrByValue) {
  for (const Tensor& same : {shape_, Tensor::of<int64_t>({2}, {2, 3})}) {
    const auto outputs = run({{"shape", same}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(outputs->at("y").shape(), (Shape{2, 3}));
  }
}

TEST_F(GivenInput, IsRefusedWithAnotherValueShapeOrType) {
  for (const Tensor& other :
       {Tensor::of<int64_t>({2}, {3, 2}), Tensor::of<int64_t>({3}, {2, 3, 1}),
        Tensor::of<int32_t>({2}, {2, 3}), Tensor(), shape_.reshaped({1, 2})}) {
    const auto outputs = run({{"shape", other}});
    ASSERT_FALSE(outputs) << to_string(other.type());
    EXPECT_THAT(outputs.error().message, HasSubstr("depends on the value of input 'shape'"));
  }
  EXPECT_THAT(run({}).error().message, HasSubstr("input 'shape' is missing"));
}

}  // namespace
}  // namespace clvet
