// Loop and Scan: how often their bodies run, what they carry, stack and capture, and the message
// for a body that does not give what it promised.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/cancel.h"
#include "runtime/host/executor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::i64s;
using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kInt64 = 7, kBool = 9;

// trip, go, x of floats; go_out = go.
ModelBuilder body_of_x() {
  ModelBuilder body;
  body.input("trip", {}, kInt64).input("go", {}, kBool).input_of_any_shape("x");
  body.node("Identity", {"go"}, {"go_out"});
  body.output("go_out");
  return body;
}

// outputs = Loop(n, c, x), where x and `outside` are floats of any shape.
ModelBuilder loop_of(ModelBuilder body, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
  ModelBuilder model(16);
  model.input("n", {}, kInt64).input("c", {}, kBool).input_of_any_shape("x");
  model.input_of_any_shape("outside");
  test::set_graph(model.node("Loop", inputs, outputs), "body", body.graph());
  for (const std::string& output : outputs) model.output(output);
  return model;
}

using Inputs = std::map<std::string, Tensor>;

Inputs given(int64_t trips, bool go, const Tensor& x) {
  return {{"n", Tensor::scalar(trips)},
          {"c", Tensor::scalar(go)},
          {"x", x},
          {"outside", Tensor::of<float>({1}, {100})}};
}

std::vector<Tensor> run(const ModelBuilder& model, const Inputs& inputs) {
  const auto outputs = run_graph(model.build(), inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? *outputs : std::vector<Tensor>(4);
}

Error fault(const ModelBuilder& model, const Inputs& inputs) {
  const auto outputs = run_graph(model.build(), inputs);
  EXPECT_FALSE(outputs);
  return outputs ? Error{} : outputs.error();
}

// x = x + outside, which is also stacked.
ModelBuilder sum_loop() {
  ModelBuilder body = body_of_x();
  body.node("Add", {"x", "outside"}, {"x_out"});
  body.node("Identity", {"x_out"}, {"row"});
  return loop_of(body.output("x_out").output("row"), {"n", "c", "x"}, {"y", "all"});
}

TEST(Loop, RunsItsBodyAsOftenAsTheTripCountSays) {
  const auto outputs = run(sum_loop(), given(3, true, Tensor::of<float>({1}, {1})));
  EXPECT_THAT(test::floats(outputs[0]), ElementsAre(301));
  EXPECT_EQ(outputs[1].shape(), (Shape{3, 1}));
  EXPECT_THAT(test::floats(outputs[1]), ElementsAre(101, 201, 301));
}

TEST(Loop, GivesTheCarriedValuesBackWhereThereAreNoTrips) {
  const Tensor x = Tensor::of<float>({2}, {1, 2});
  for (const Inputs& inputs : {given(0, true, x), given(-5, true, x), given(9, false, x),
                               given(std::numeric_limits<int64_t>::min(), true, x)}) {
    const auto outputs = run(sum_loop(), inputs);
    EXPECT_THAT(test::floats(outputs[0]), ElementsAre(1, 2));
    EXPECT_EQ(outputs[1].dim(0), 0);
    EXPECT_EQ(outputs[1].dtype(), DType::kF32);
  }
}

TEST(Loop, EndsWhenTheBodySaysSo) {
  ModelBuilder body;
  body.input("trip", {}, kInt64).input("go", {}, kBool).input_of_any_shape("x");
  body.constant_i64("last", {3});
  body.node("Less", {"trip", "last"}, {"go_out"});
  body.node("Neg", {"x"}, {"x_out"});
  body.output("go_out").output("x_out").output("trip");
  const auto outputs = run(loop_of(body, {"", "", "x"}, {"y", "trips"}),
                           given(0, false, Tensor::of<float>({1}, {5})));
  EXPECT_EQ(outputs[1].to_i64(), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_THAT(test::floats(outputs[0]), ElementsAre(5));
}

TEST(Loop, CarriesAValueWhoseShapeChanges) {
  ModelBuilder body = body_of_x();
  test::set_int(body.node("Concat", {"x", "outside"}, {"x_out"}), "axis", 0);
  const auto outputs = run(loop_of(body.output("x_out"), {"n", "", "x"}, {"y"}),
                           given(4, true, Tensor::of<float>({1}, {1})));
  EXPECT_THAT(test::floats(outputs[0]), ElementsAre(1, 100, 100, 100, 100));
}

TEST(Loop, RunsInsideALoop) {
  ModelBuilder inner = body_of_x();
  inner.node("Add", {"x", "outside"}, {"x_out"});
  inner.output("x_out");
  ModelBuilder body;
  body.input("i", {}, kInt64).input("more", {}, kBool).input_of_any_shape("z");
  body.node("Identity", {"more"}, {"more_out"});
  test::set_graph(body.node("Loop", {"n", "c", "z"}, {"z_out"}), "body", inner.graph());
  body.output("more_out").output("z_out");
  const auto outputs =
      run(loop_of(body, {"n", "c", "x"}, {"y"}), given(3, true, Tensor::of<float>({1}, {1})));
  EXPECT_THAT(test::floats(outputs[0]), ElementsAre(901));
}

TEST(Loop, TellsInOneLineWhichBodyDoesNotFit) {
  ModelBuilder few = body_of_x(), typed = body_of_x(), odd = body_of_x(), growing = body_of_x();
  typed.node("Neg", {"x"}, {"x_out"});
  typed.output("x_out");
  typed.graph().mutable_input(2)->mutable_type()->mutable_tensor_type()->set_elem_type(kInt64);
  odd.node("Neg", {"x"}, {"x_out"});
  odd.output("x_out");
  odd.graph().mutable_output(0)->set_name("x_out");
  test::set_int(growing.node("Concat", {"x", "x"}, {"x_out"}), "axis", 0);
  growing.node("Identity", {"x_out"}, {"row"});
  growing.output("x_out").output("row");
  const struct {
    ModelBuilder body;
    std::vector<std::string> inputs, outputs;
    const char* part;
  } rows[] = {
      {few, {"n", "c", "x"}, {"y"}, "graph body has 1 outputs, but needs 2"},
      {typed,
       {"n", "c", "x", "outside"},
       {"y"},
       "has 3 inputs of its own, but the node gives it 4"},
      {typed, {"n", "c", "x"}, {"y"}, "input 'x' is i64, but gets f32[1]"},
      {typed, {"n", "c", "x"}, {"y", "z"}, "has 1 outputs, but the node names 2"},
      {odd, {"n", "c", "x"}, {"y"}, "must be a single truth value, not f32[1]"},
      {growing, {"n", "c", "x"}, {"y", "all"}, "f32[2] for one trip and f32[4] for another"},
  };
  for (const auto& row : rows) {
    const Error error = fault(loop_of(row.body, row.inputs, row.outputs),
                              given(3, true, Tensor::of<float>({1}, {1})));
    EXPECT_THAT(error.message, HasSubstr(row.part));
    EXPECT_THAT(error.message, testing::Not(HasSubstr("\n")));
  }
}

TEST(Loop, ThatNeverEndsIsCancelled) {
  std::atomic<bool> cancelled = true;
  const CancelScope scope(&cancelled);
  const Error error = fault(
      sum_loop(), given(std::numeric_limits<int64_t>::max(), true, Tensor::of<float>({1}, {1})));
  EXPECT_EQ(error.code, ErrorCode::kCancelled);
}

TEST(Loop, IsNotRunToLearnWhatItMakes) {
  ModelBuilder body = body_of_x();
  body.node("Neg", {"x"}, {"x_out"});
  const Graph graph = loop_of(body.output("x_out"), {"", "", "x"}, {"y"}).build();
  const Tensor x = Tensor::of<float>({1}, {1});
  const Node& node = graph.nodes.at(0);
  OpCall call{node, {{}, {}, {x.type(), &x, true}}};
  const auto types = infer_node(call);
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().code, ErrorCode::kUnavailable);
}

// state, part -> state + part, -(state + part).
ModelBuilder scan_of(const std::vector<std::string>& inputs, int64_t scans) {
  ModelBuilder body;
  body.input_of_any_shape("state").input_of_any_shape("part");
  body.node("Add", {"state", "part"}, {"sum"});
  body.node("Sub", {"outside", "sum"}, {"row"});
  body.output("sum").output("row");
  ModelBuilder model(16);
  model.input_of_any_shape("x").input_of_any_shape("s").input_of_any_shape("outside");
  auto& node = model.node("Scan", inputs, {"last", "rows"});
  test::set_graph(node, "body", body.graph());
  test::set_int(node, "num_scan_inputs", scans);
  model.output("last").output("rows");
  return model;
}

Inputs scanned(const Tensor& x, const Tensor& s) {
  return {{"x", x}, {"s", s}, {"outside", Tensor::of<float>({1}, {100})}};
}

TEST(Scan, WalksAlongTheFirstAxis) {
  const auto outputs =
      run(scan_of({"x", "s"}, 1),
          scanned(Tensor::of<float>({2}, {0, 10}), Tensor::of<float>({2, 2}, {1, 2, 3, 4})));
  EXPECT_THAT(test::floats(outputs[0]), ElementsAre(4, 16));
  EXPECT_EQ(outputs[1].shape(), (Shape{2, 2}));
  EXPECT_THAT(test::floats(outputs[1]), ElementsAre(99, 88, 96, 84));
}

TEST(Scan, WalksBackwardsAlongAnyAxisAndStacksSo) {
  ModelBuilder model = scan_of({"x", "s"}, 1);
  auto& node = *model.graph().mutable_node(0);
  test::set_ints(node, "scan_input_axes", {-1});
  test::set_ints(node, "scan_input_directions", {1});
  test::set_ints(node, "scan_output_axes", {1});
  test::set_ints(node, "scan_output_directions", {1});
  const auto outputs = run(model, scanned(Tensor::of<float>({2}, {0, 10}),
                                          Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  EXPECT_THAT(test::floats(outputs[0]), ElementsAre(6, 25));
  EXPECT_EQ(outputs[1].shape(), (Shape{2, 3}));
  EXPECT_THAT(test::floats(outputs[1]), ElementsAre(94, 95, 97, 75, 79, 84));
}

TEST(Scan, MakesNoRowsOfNoParts) {
  const auto outputs = run(scan_of({"x", "s"}, 1),
                           scanned(Tensor::of<float>({2}, {7, 8}), Tensor::of<float>({0, 2}, {})));
  EXPECT_THAT(test::floats(outputs[0]), ElementsAre(7, 8));
  EXPECT_EQ(outputs[1].dim(0), 0);
}

TEST(Scan, RefusesWhatItCannotWalk) {
  const Tensor x = Tensor::of<float>({2}, {0, 10}),
               s = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Inputs inputs = scanned(x, s);
  EXPECT_THAT(fault(scan_of({"x", "s"}, 0), inputs).message,
              HasSubstr("num_scan_inputs cannot be 0"));
  EXPECT_THAT(fault(scan_of({"x", "s"}, 3), inputs).message,
              HasSubstr("num_scan_inputs cannot be 3"));
  EXPECT_THAT(fault(scan_of({"x", "s"}, 2), inputs).message, HasSubstr("do not fit together"));
  EXPECT_THAT(fault(scan_of({"x", "s"}, 1), scanned(x, Tensor::scalar(1.f))).message,
              HasSubstr("input 1 cannot have the shape []"));
  const std::pair<const char*, std::vector<int64_t>> lists[] = {{"scan_input_axes", {2}},
                                                                {"scan_input_axes", {0, 0}},
                                                                {"scan_output_axes", {-3}},
                                                                {"scan_input_directions", {2}}};
  for (const auto& [name, values] : lists) {
    ModelBuilder model = scan_of({"x", "s"}, 1);
    test::set_ints(*model.graph().mutable_node(0), name, values);
    EXPECT_NE(fault(model, inputs).message, "") << name;
  }
}

}  // namespace
}  // namespace clvet
