#include "runtime/plan/subject.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Graph graph_with(float given) {
  test::ModelBuilder model;
  model.input("x", {2, 3}).input("z", {4}).output("y").output("r");
  model.node("Relu", {"x"}, {"y"});
  model.node("Relu", {"z"}, {"r"});
  Graph graph = test::ready(model);
  graph.given["bound"] = Tensor::scalar(given);
  return graph;
}

PlanSubject subject(float given = 1) {
  return network_subject(graph_with(given), "0123456789abcdef");
}

TEST(Subject, OfANetworkHoldsItsInputsAndItsKernels) {
  const PlanSubject made = subject();
  EXPECT_EQ(made.format, "onnx");
  EXPECT_EQ(made.model, "0123456789abcdef");
  EXPECT_EQ(made.kernel_set, kernel_set());
  const std::map<std::string, Shape> inputs = {{"x", {2, 3}}, {"z", {4}}, {"bound", {}}};
  EXPECT_EQ(made.inputs, inputs);
  ASSERT_EQ(made.given.size(), 1u);
  EXPECT_EQ(made.given.at("bound").size(), 64u);
  EXPECT_EQ(made.device, "");
  EXPECT_EQ(language_subject("f").format, "gguf");
  EXPECT_EQ(language_subject("f").model, "f");
  EXPECT_EQ(language_subject("f").kernel_set, kernel_set());
}

TEST(Subject, TellsValuesAndTypesOfGivenInputsApart) {
  EXPECT_EQ(subject(1), subject(1));
  EXPECT_NE(subject(1).given, subject(2).given);
  Graph shaped = graph_with(1);
  shaped.given["bound"] = Tensor::of<float>({1}, {1});
  EXPECT_NE(network_subject(shaped, "m").given, subject(1).given);
  shaped.given["bound"] = Tensor::scalar<int32_t>(0x3f800000);  // the bits of 1.f
  EXPECT_NE(network_subject(shaped, "m").given, subject(1).given);
}

TEST(Subject, NamesTheDeviceAndItsEnvironment) {
  DeviceReport device = test::device_with();
  device.environment_key = "k";
  PlanSubject made = subject();
  set_device(&device, made);
  EXPECT_EQ(made.device, "Board");
  EXPECT_EQ(made.environment_key, "k");
  set_device(nullptr, made);
  EXPECT_EQ(made.device, "");
  EXPECT_EQ(made.environment_key, "");
}

struct Mismatch {
  std::function<void(PlanSubject&)> change;
  std::string told;
};

TEST(Subject, OfAnotherModelInputsOrKernelsIsRefusedByName) {
  const std::vector<Mismatch> rows = {
      {[](PlanSubject& s) { s.format = "gguf"; },
       "a model in the format gguf, but this model is in onnx"},
      {[](PlanSubject& s) { s.kernel_set = "old"; }, "other kernels"},
      {[](PlanSubject& s) { s.model = "fedcba98765432"; },
       "another model (SHA-256 fedcba987654..., but this model's is 0123456789ab...)"},
      {[](PlanSubject& s) {
         s.inputs["x"] = {2, 4};
       },
       "inputs bound [], x [2,4], z [4], but these are bound [], x [2,3], z [4]"},
      {[](PlanSubject& s) { s.inputs.erase("z"); }, "inputs bound [], x [2,3], but these are"},
      {[](PlanSubject& s) { s.given["bound"] = "0"; }, "depends on the value of input 'bound'"},
      {[](PlanSubject& s) { s.given.clear(); }, "depends on the value of input 'bound'"},
      {[](PlanSubject& s) { s.given["more"] = "0"; }, "other inputs"},
  };
  for (const Mismatch& row : rows) {
    PlanSubject planned = subject();
    row.change(planned);
    const Status status = check_subject(planned, subject());
    ASSERT_FALSE(status) << row.told;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().message, AllOf(HasSubstr(row.told), Not(HasSubstr("\n"))));
  }
}

TEST(Subject, IsTheSameForTheSameModelWhateverTheDevice) {
  PlanSubject planned = subject();
  planned.device = "another";
  planned.environment_key = "key";
  EXPECT_TRUE(check_subject(planned, subject()));
}

}  // namespace
}  // namespace clvet
