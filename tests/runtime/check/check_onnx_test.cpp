#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/check/check.h"
#include "runtime/check/check_record.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;

// c = true.
onnx::TensorProto condition() {
  onnx::TensorProto tensor;
  tensor.set_name("c");
  tensor.set_data_type(9);
  tensor.add_int32_data(1);
  return tensor;
}

test::ModelBuilder picture_model(const Shape& input) {
  test::ModelBuilder model;
  model.input("x", input).constant("w", {1, 1, 3, 3}, std::vector<float>(9, 1.f));
  test::set_ints(model.node("Conv", {"x", "w"}, {"c"}), "pads", {1, 1, 1, 1});
  model.node("Sign", {"c"}, {"n"});
  model.output("n");
  return model;
}

Result<CheckRecord> check_model(const test::ModelBuilder& model,
                                const std::map<std::string, Shape>& shapes = {},
                                const Report* report = nullptr) {
  const test::TempDir folder;
  test::put(folder / "m.onnx", model.bytes());
  return check_onnx(folder / "m.onnx", shapes, report);
}

std::map<std::string, NodeCheck> nodes_by_op(const Result<CheckRecord>& record) {
  EXPECT_TRUE(record) << record.error().message;
  std::map<std::string, NodeCheck> nodes;
  for (const NodeCheck& node : record->devices.front().nodes) nodes[node.op] = node;
  return nodes;
}

TEST(CheckOnnx, SaysWhereEachNodeCouldRunAndWhy) {
  const auto record = check_model(picture_model({1, 1, 8, 8}));
  const auto nodes = nodes_by_op(record);
  EXPECT_TRUE(record->runs());
  EXPECT_EQ(nodes.at("Conv").where, Where::kOpenCl);
  EXPECT_THAT(nodes.at("Conv").kernel, HasSubstr("conv2d"));
  EXPECT_EQ(nodes.at("Sign").where, Where::kHost);
  EXPECT_THAT(nodes.at("Sign").reason, HasSubstr("no kernel"));
  EXPECT_THAT(record->notes, testing::ElementsAre(HasSubstr("no report")));
}

TEST(CheckOnnx, CountsTheNodesThatOnlyARunCanPlan) {
  test::ModelBuilder model;
  model.input("x", {3, 4}).constant("w", {2, 2}, std::vector<float>(4, 1.f));
  model.node("NonZero", {"x"}, {"places"});
  test::set_int(model.node("Cast", {"places"}, {"numbers"}), "to", 1);
  model.node("MatMul", {"w", "numbers"}, {"y"});
  const auto record = check_model(model.output("y"));
  EXPECT_EQ(nodes_by_op(record).at("MatMul").where, Where::kHost);
  EXPECT_THAT(record->notes, testing::Contains(testing::StartsWith("2 nodes have shapes")));
}

// What a run is given as axes, it plans with.
TEST(CheckOnnx, LeavesOpenThePlacesThatTheValuesOfAnInputDecide) {
  test::ModelBuilder model;
  model.input("x", {2, 3, 4}).input("axes", {1}, 7);
  model.constant("w", {4, 2}, std::vector<float>(8, 1.f));
  model.node("Relu", {"x"}, {"r"});
  model.node("ReduceSum", {"r", "axes"}, {"s"});
  const auto record = check_model(model.output("s"));
  const auto nodes = nodes_by_op(record);
  EXPECT_TRUE(record->runs());
  EXPECT_THAT(nodes.at("Relu").reason, testing::Not(HasSubstr("axes")));
  EXPECT_EQ(nodes.at("ReduceSum").reason, "the values of input 'axes' decide its place");
  EXPECT_THAT(record->notes, testing::Contains(HasSubstr("depends on the values of 'axes'")));
}

TEST(CheckOnnx, NamesOperatorsThatNothingRuns) {
  auto model = picture_model({1, 1, 8, 8});
  model.set_op(1, "Frobnicate");
  const auto record = check_model(model);
  const auto nodes = nodes_by_op(record);
  EXPECT_FALSE(record->runs());
  EXPECT_THAT(record->findings, testing::ElementsAre(HasSubstr("(Frobnicate)")));
  EXPECT_EQ(nodes.at("Frobnicate").where, Where::kNeither);
  EXPECT_EQ(nodes.at("Conv").where, Where::kOpenCl);
}

TEST(CheckOnnx, NamesOperatorsOfBranchesThatNothingRuns) {
  for (const bool known : {false, true}) {
    test::ModelBuilder model;
    model.input("c", {}, 9).input("x", {2});
    if (known) {
      *model.graph().add_initializer() = condition();
      model.graph().mutable_input()->DeleteSubrange(0, 1);
    }
    auto& node = test::add_if(model, test::branch("Neg", {"x"}, "t"),
                              test::branch("Frobnicate", {"x"}, "e"));
    node.set_name("choose");
    model.output("y");
    const auto record = check_model(model);
    const auto nodes = nodes_by_op(record);
    EXPECT_FALSE(record->runs());
    EXPECT_THAT(record->findings,
                testing::ElementsAre(testing::AllOf(HasSubstr("choose/else_branch/"),
                                                    HasSubstr("does not support this operator"))));
    EXPECT_EQ(nodes.at("If").where, Where::kNeither);
    EXPECT_THAT(nodes.at("If").reason, HasSubstr("subgraph"));
  }
}

TEST(CheckOnnx, NamesWhatIsInALoopsBody) {
  test::ModelBuilder model;
  model.input("x", {2}).input("n", {}, 7);
  auto body = test::branch("Frobnicate", {"carried"}, "next");
  auto* input = body.add_input();
  input->set_name("carried");
  input->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  auto& node = model.node("Loop", {"n", "", "x"}, {"y"});
  test::set_graph(node, "body", body);
  model.output("y");
  const auto record = check_model(model);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_THAT(record->findings,
              testing::ElementsAre(HasSubstr("/body/Frobnicate_next' (Frobnicate)")));
}

TEST(CheckOnnx, NamesWhatIsInAFunction) {
  test::ModelBuilder model;
  model.input("x", {2});
  model.node("Twice", {"x"}, {"y"}).set_domain("own");
  auto& function = *model.model().add_functions();
  function.set_name("Twice");
  function.set_domain("own");
  function.add_input("a");
  function.add_output("b");
  auto& node = *function.add_node();
  node.set_op_type("Frobnicate");
  node.set_name("inner");
  node.add_input("a");
  node.add_output("b");
  const auto record = check_model(model.output("y"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_THAT(record->findings, testing::ElementsAre(HasSubstr("/inner' (Frobnicate)")));
}

TEST(CheckOnnx, GivesOneFindingForAllNodesOfAnOperator) {
  auto model = picture_model({1, 1, 8, 8});
  model.set_op(0, "Frobnicate");
  model.set_op(1, "Frobnicate");
  EXPECT_THAT(check_model(model)->findings,
              testing::ElementsAre(testing::AllOf(HasSubstr("2 nodes (Frobnicate)"),
                                                  HasSubstr("does not support this operator"))));
}

TEST(CheckOnnx, NamesTheOperatorSetThatWouldDo) {
  auto model = picture_model({1, 1, 8, 8});
  model.set_op(1, "Mish");
  const auto record = check_model(model);
  const auto nodes = nodes_by_op(record);
  EXPECT_FALSE(record->runs());
  EXPECT_THAT(record->findings,
              testing::ElementsAre(testing::AllOf(HasSubstr("(Mish): "),
                                                  HasSubstr("with opset_version=18 or newer"))));
  EXPECT_THAT(nodes.at("Mish").reason, HasSubstr("opset_version=18"));
  const auto run = model.parse();
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("with opset_version=18 or newer")) << "the same cure";
}

TEST(CheckOnnx, DoesNotBlameTheNodesBehindOneThatCannotRun) {
  auto model = picture_model({1, 1, 8, 8});
  model.set_op(1, "Frobnicate");
  model.node("Relu", {"n"}, {"r"});
  const auto record = check_model(model.output("r"));
  const auto nodes = nodes_by_op(record);
  EXPECT_EQ(record->findings.size(), 1u);
  EXPECT_THAT(nodes.at("Relu").reason, HasSubstr("a node before it cannot run"));
  EXPECT_EQ(nodes.at("Conv").where, Where::kOpenCl);
}

TEST(CheckOnnx, FindsWhatClvetLacksWhereTheFileIsRight) {
  test::ModelBuilder texts;
  texts.input("s", {2}, 8);
  texts.node("Identity", {"s"}, {"y"});
  const auto of_texts = check_model(texts.output("y"));
  ASSERT_TRUE(of_texts) << of_texts.error().message;
  EXPECT_FALSE(of_texts->runs());
  EXPECT_THAT(of_texts->findings,
              testing::ElementsAre(HasSubstr("input 's' has the ONNX element type 8")));
  test::ModelBuilder integers;
  integers.input("x", {2}, 7);
  integers.node("Sqrt", {"x"}, {"y"});
  const auto of_integers = check_model(integers.output("y"));
  ASSERT_TRUE(of_integers) << of_integers.error().message;
  EXPECT_THAT(of_integers->findings,
              testing::ElementsAre(HasSubstr("(Sqrt): Sqrt does not support")));
}

TEST(CheckOnnx, RefusesAFileThatIsBroken) {
  auto model = picture_model({1, 1, 8, 8});
  model.graph().mutable_node(1)->set_input(0, "nowhere");
  const auto record = check_model(model);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, ErrorCode::kInvalidArgument);
}

TEST(CheckOnnx, ChoosesExtentsThatAreOpenAndSaysWhich) {
  const auto chosen = check_model(picture_model({-1, 1, -1, -1}));
  EXPECT_EQ(nodes_by_op(chosen).at("Conv").where, Where::kOpenCl);
  EXPECT_THAT(chosen->notes.front(), HasSubstr("'x' open; it was checked as [1,1,320,320]"));
  const auto given = check_model(picture_model({-1, 1, -1, -1}), {{"x", {2, 1, 16, 16}}});
  EXPECT_EQ(nodes_by_op(given).at("Conv").where, Where::kOpenCl);
  EXPECT_THAT(given->notes, testing::Not(testing::Contains(HasSubstr("leaves the shape"))));
}

TEST(CheckOnnx, RefusesShapesThatTheModelDoesNotTake) {
  const auto record = check_model(picture_model({1, 1, 8, 8}), {{"x", {1, 2, 8, 8}}});
  EXPECT_THAT(record.error().message, HasSubstr("--shape"));
  EXPECT_FALSE(check_model(picture_model({1, 1, 8, 8}), {{"y", {1}}}));
}

TEST(CheckOnnx, TrustsNothingThatTheReportDoesNotVouchFor) {
  Report report;
  report.devices.emplace_back().id = "d0";
  report.devices.front().name = "Board";
  const auto record = check_model(picture_model({1, 1, 8, 8}), {}, &report);
  const auto nodes = nodes_by_op(record);
  EXPECT_EQ(nodes.at("Conv").where, Where::kHost);
  EXPECT_TRUE(record->runs());
  EXPECT_EQ(record->devices.front().id, "d0");
  EXPECT_THAT(record->devices.front().advice, testing::ElementsAre(HasSubstr("clvet probe")));
}

}  // namespace
}  // namespace clvet
