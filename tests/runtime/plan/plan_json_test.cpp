#include "runtime/plan/plan_json.h"
#include "base/json.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

PlanStep kernel_step() {
  PlanStep step;
  step.kind = StepKind::kKernel;
  step.node = 3;
  step.variant = "gemm_tile4x4/high/normal/buffer/buffer/float";
  step.op = "gemm";
  step.dims = {{"M", 8}, {"huge", std::numeric_limits<int64_t>::max()}, {"least", INT64_MIN}};
  step.scalars = {{"act_lo", -std::numeric_limits<double>::infinity()},
                  {"act_hi", std::numeric_limits<double>::infinity()},
                  {"third", 1.0 / 3}};
  step.tensors = {{"x", 0}, {"y", 2}};
  step.constants = {{"w", 1}};
  step.ms = 0.1;
  return step;
}

std::vector<DeviceTensor> all_tensors() {
  DeviceTensor plain;
  plain.value = "x \"quoted\"";
  plain.shape = {1, 3, 4, 5};
  plain.extent = {1, 4, 5, 3};
  plain.slot = 2;
  DeviceTensor image = plain;
  image.storage = Storage::kImage;
  image.half = true;
  image.slot = -1;
  image.view = View::kChannelsLast;
  image.rows = TensorRows::kOfStep;
  DeviceTensor turned = plain;
  turned.view = View::of({3, 1, 0, 2});
  turned.alias = 0;
  turned.rows = TensorRows::kOfText;
  DeviceTensor indices = plain;
  indices.shape = {};
  indices.row_numbers = 9;
  indices.constant = true;
  indices.view = View::kChannelsLast;
  return {plain, image, turned, indices};
}

// Every field has a value of its own, every word occurs.
ExecutionPlan full_plan() {
  ExecutionPlan plan;
  plan.subject = {"onnx", "abc", {{"x", {1, 3}}, {"s", {}}}, {{"s", "0f"}}, "Board", "key", "set"};
  plan.combination = {Precision::kLow, Memory::kLow, Storage::kImage, Storage::kBuffer};
  PlanStep upload, download, host, copy = kernel_step();
  upload.kind = StepKind::kUpload;
  upload.tensor = 1;
  upload.ms = 2;
  download.kind = StepKind::kDownload;
  download.tensor = 3;
  host.kind = StepKind::kHost;
  host.node = 1;
  copy.node = -1;
  plan.phases = {{"run",
                  {{"a", "Relu", Place::kDevice, "", 1.5},
                   {"b", "IsNaN", Place::kHost, "why", 0},
                   {"c", "Reshape", Place::kAlias, "", 0}},
                  {upload, kernel_step(), copy, host, download},
                  7.25},
                 {"prompt", {}, {}, 0}};
  plan.tensors = all_tensors();
  plan.slot_bytes = {4, 1LL << 40};
  plan.constants = {{ConstantSource::kZeros, -1, "", 0},
                    {ConstantSource::kNode, 2, "w", 1},
                    {ConstantSource::kMatrix, -1, "0.qkv", 16},
                    {ConstantSource::kVector, -1, "out_norm", 0}};
  plan.fallbacks = {{"a", "one", "other", "crash"}};
  plan.refused = {{{Precision::kNormal, {}, Storage::kBuffer, {}}, "slower", true, 3, 5},
                  {{Precision::kHigh, Memory::kNormal, Storage::kImage, Storage::kImage},
                   "wrong",
                   false,
                   0,
                   0}};
  plan.bytes = 123456789;
  plan.raised = RaisedEvidence{{"a", "b"}, 0.05, 2, 5, 1.5, 2.5, 4};
  plan.residual_scale = 0.125;
  plan.next_token = "next_token_group/high/-/buffer/-/-";
  return plan;
}

ExecutionPlan network_plan(const Combination& combination) {
  const auto plan =
      plan_network_for(test::mixed_network(), *test::chooser_that(test::all_pass), combination);
  EXPECT_TRUE(plan);
  return *plan;
}

TEST(PlanJson, GivesThePlanBack) {
  for (const ExecutionPlan& plan :
       {full_plan(), network_plan(test::kBuffers), network_plan(test::kImages), ExecutionPlan()}) {
    const auto back = plan_from_json(plan_to_json(plan), "a.json");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(*back == plan);
    EXPECT_EQ(plan_to_json(*back), plan_to_json(plan));
  }
}

TEST(PlanJson, KeepsAScalarThatIsNoNumber) {
  ExecutionPlan plan = full_plan();
  plan.phases[0].steps[1].scalars["act_lo"] = std::numeric_limits<double>::quiet_NaN();
  const auto back = plan_from_json(plan_to_json(plan), "a.json");
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::isnan(back->phases[0].steps[1].scalars.at("act_lo")));
}

TEST(PlanJson, HasNamesAsPeopleReadThem) {
  ExecutionPlan plan = full_plan();
  plan.phases[0].nodes[0].name = "\u00e9t\u00e9";
  EXPECT_THAT(plan_to_json(plan), HasSubstr("\u00e9t\u00e9"));
  plan.phases[0].nodes[0].name = "\xff";
  EXPECT_THAT(plan_to_json(plan), HasSubstr("\uFFFD"));
}

TEST(PlanJson, IsWrittenAsTheSchemaHasIt) {
  const Json json = Json::parse(plan_to_json(full_plan()));
  EXPECT_EQ(json["schema"], "clvet.plan/1");
  EXPECT_EQ(json["phases"][0]["nodes"][0]["where"], "opencl");
  EXPECT_EQ(json["phases"][0]["nodes"][2]["where"], "alias");
  EXPECT_EQ(json["phases"][0]["steps"][0]["kind"], "upload");
  EXPECT_EQ(json["phases"][0]["steps"][1]["scalars"]["act_lo"], "-inf");
  EXPECT_TRUE(json["phases"][0]["steps"][2]["node"].is_null());
  EXPECT_TRUE(json["phases"][0]["nodes"][1]["predicted_ms"].is_null());
  EXPECT_EQ(json["tensors"][0]["order"], "channels-first");
  EXPECT_EQ(json["tensors"][2]["order"], (std::vector<int>{3, 1, 0, 2}));
  EXPECT_EQ(json["tensors"][1]["rows"], "of-step");
  EXPECT_EQ(json["constants"][0], (Json{{"from", "zeros"}}));
  EXPECT_EQ(json["constants"][2]["from"], "matrix");
}

void expect_refused(const std::string& text, const std::string& what) {
  const auto plan = plan_from_json(text, "a.json");
  ASSERT_FALSE(plan) << what;
  EXPECT_EQ(plan.error().code, ErrorCode::kInvalidArgument) << what;
  EXPECT_THAT(plan.error().message, AllOf(StartsWith("a.json: "), Not(HasSubstr("\n")))) << what;
}

TEST(PlanJson, ThatIsCutOffIsRefused) {
  const std::string text = plan_to_json(full_plan());
  for (size_t i = 0; i + 2 < text.size(); i += 97) expect_refused(text.substr(0, i), "cut");
}

TEST(PlanJson, ThatNestsDeeplyIsRefused) {
  for (const char* open : {"[", "{\"schema\":", "{\"tensors\":["}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    expect_refused(text, open);
  }
  std::string closed(100000, '[');
  expect_refused(closed + std::string(100000, ']'), "closed");
}

// Each value of the document in turn replaced by one of another type is refused, or is a plan.
TEST(PlanJson, WithAValueOfAnotherTypeIsRefused) {
  const Json json = Json::parse(plan_to_json(full_plan()));
  const std::vector<Json> others = {nullptr, true, "a word", Json::array({1, "a"}),
                                    Json::object({{"k", 1}})};
  const Json flat = json.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (const Json& other : others) {
      Json changed = json;
      changed[Json::json_pointer(path)] = other;
      const auto plan = plan_from_json(changed.dump(), "a.json");
      const bool text = value.is_string() && other.is_string();
      const bool not_predicted = other.is_null() && (value.is_number() || value.is_string());
      const bool empty = value.is_null() || value.empty() || value.is_boolean();
      EXPECT_TRUE(text || not_predicted || empty || !plan) << path << " = " << other;
      if (!plan) expect_refused(changed.dump(), path);
    }
  }
}

TEST(PlanJson, WithANumberThatNoIntegerHoldsIsRefused) {
  const Json json = Json::parse(plan_to_json(full_plan()));
  const std::vector<std::string> paths = {"/phases/0/steps/0/tensor",
                                          "/phases/0/steps/1/node",
                                          "/phases/0/steps/1/dims/M",
                                          "/phases/0/steps/1/tensors/x",
                                          "/constants/1/node",
                                          "/phases/0/steps/1/constants/w",
                                          "/tensors/0/shape/1",
                                          "/tensors/0/extent/2",
                                          "/tensors/0/row_numbers",
                                          "/tensors/0/slot",
                                          "/tensors/0/alias",
                                          "/tensors/2/order/1",
                                          "/slot_bytes/0",
                                          "/constants/1/part",
                                          "/subject/inputs/x/0"};
  for (const std::string& path : paths) {
    for (const char* number : {"1e300", "-1e300", "1.5", "18446744073709551615", "true"}) {
      Json changed = json;
      changed.at(Json::json_pointer(path)) = Json::parse(number);
      expect_refused(changed.dump(), path + " = " + number);
    }
  }
  for (const char* path : {"/phases/0/steps/0/tensor", "/phases/0/steps/1/node",
                           "/phases/0/steps/1/tensors/x", "/tensors/0/slot", "/constants/1/node"}) {
    Json changed = json;
    changed.at(Json::json_pointer(path)) = (int64_t{1} << 32) + 1;
    expect_refused(changed.dump(), path);
  }
}

TEST(PlanJson, WithAFieldLessOrAWordThatMeansNothingNamesIt) {
  const Json json = Json::parse(plan_to_json(full_plan()));
  const auto told = [](const Json& changed) {
    expect_refused(changed.dump(), "changed");
    return plan_from_json(changed.dump(), "a.json").error().message;
  };
  Json changed = json;
  changed["tensors"][1].erase("slot");
  EXPECT_THAT(told(changed), AllOf(HasSubstr("/tensors/1"), HasSubstr("'slot'")));
  const std::vector<std::pair<std::string, std::string>> words = {
      {"/phases/0/steps/0/kind", "upload, download, kernel, host"},
      {"/phases/0/nodes/0/where", "host, opencl, alias"},
      {"/tensors/0/storage", "buffer, image"},
      {"/tensors/0/rows", "fixed, of-step, of-text"},
      {"/tensors/0/order", "channels-first, channels-last"},
      {"/constants/1/from", "zeros, node, matrix, vector"},
      {"/combination/precision", "not a word of a combination"},
      {"/phases/0/steps/1/scalars/act_lo", "is not a number"},
      {"/schema", "clvet.plan/1"}};
  for (const auto& [path, text] : words) {
    changed = json;
    changed.at(Json::json_pointer(path)) = "two\nlines";
    EXPECT_THAT(told(changed), HasSubstr(text));
  }
  for (const char* path : {"/combination/precision", "/combination/activations"}) {
    changed = json;
    changed.at(Json::json_pointer(path)) = nullptr;
    EXPECT_THAT(told(changed), HasSubstr("must have a precision and a storage"));
  }
}

TEST(PlanJson, WithAnOrderThatIsNoPermutationIsRefused) {
  const Json json = Json::parse(plan_to_json(full_plan()));
  for (const Json& order :
       {Json{0, 0, 1, 2}, Json{1, 2, 3, 4}, Json{-1, 0, 1, 2}, Json{0, 1, 2, 3, 4, 5, 6, 7, 8}}) {
    Json changed = json;
    changed["tensors"][2]["order"] = order;
    expect_refused(changed.dump(), order.dump());
  }
}

}  // namespace
}  // namespace clvet
