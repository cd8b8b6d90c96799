// Models on the host from end to end: what is checked, what is computed, what is recorded.
#include "runtime/run/run_model.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run_record.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Inputs = std::map<std::string, Tensor>;

// y = relu(x) + k, z = -x
ModelBuilder small_model() {
  ModelBuilder model;
  model.input("x", {-1, 2}).constant("k", {2}, {10, 20});
  model.node("Relu", {"x"}, {"r"});
  model.node("Add", {"r", "k"}, {"y"});
  model.node("Neg", {"x"}, {"z"});
  model.output("y").output("z");
  return model;
}

Inputs small_inputs() { return {{"x", Tensor::of<float>({2, 2}, {-1, 2, 3, -4})}}; }

ModelRun run_of(const ModelBuilder& model, const Inputs& inputs,
                const ModelRunOptions& options = {}, const Report* report = nullptr) {
  auto run = run_model(model.build(), inputs, report, options);
  EXPECT_TRUE(run) << run.error().message;
  return run ? std::move(*run) : ModelRun{};
}

TEST(RunModel, GivesEveryOutputByItsName) {
  const ModelRun run = run_of(small_model(), small_inputs());
  ASSERT_EQ(run.outputs.size(), 2u);
  EXPECT_EQ(test::floats(run.outputs.at("y")), (std::vector<float>{10, 22, 13, 20}));
  EXPECT_EQ(test::floats(run.outputs.at("z")), (std::vector<float>{1, -2, -3, 4}));
}

TEST(RunModel, RecordsThatTheHostRanAndWhy) {
  const ModelRun run = run_of(small_model(), small_inputs());
  EXPECT_EQ(run.record.device, "host");
  EXPECT_EQ(run.record.combination.precision, Precision::kHigh);
  EXPECT_THAT(run.record.nodes, Each(AllOf(Field(&NodeRecord::place, Place::kHost),
                                           Field(&NodeRecord::kernel, IsEmpty()),
                                           Field(&NodeRecord::reason, "there is no report"))));
  EXPECT_EQ(run.record.nodes.size(), 3u);
  EXPECT_THAT(run.record.fallbacks, IsEmpty());
  EXPECT_FALSE(run.record.choice) << "nothing was compared";
  const ModelRun asked = run_of(small_model(), small_inputs(), {{.device = "host"}});
  EXPECT_THAT(asked.record.nodes, Each(Field(&NodeRecord::reason, "the host was requested")));
  EXPECT_THAT(asked.record.warnings, IsEmpty());
}

TEST(RunModel, WarnsOfTheHostWhereADeviceWasHopedForInRecordAndSink) {
  std::vector<std::string> told;
  ModelRunOptions options;
  options.sink = [&](const Event& event) {
    EXPECT_EQ(event.level, EventLevel::kWarning);
    told.push_back(event.text);
  };
  Report report;
  report.devices = {test::device_with()};  // of which no kernel was tried
  const ModelRun run = run_of(small_model(), small_inputs(), options, &report);
  EXPECT_EQ(run.record.device, "host");
  ASSERT_EQ(run.record.warnings.size(), 1u);
  EXPECT_THAT(run.record.warnings[0], HasSubstr("runs on the host: "));
  EXPECT_THAT(told, ElementsAre("warning: " + run.record.warnings[0]));
}

TEST(RunModel, SaysThatMemoryLowChangesNothingOfFloatWeights) {
  ModelRunOptions options{{.device = "host"}};
  options.overrides.memory = Memory::kLow;
  EXPECT_THAT(run_of(small_model(), small_inputs(), options).record.warnings,
              ElementsAre(HasSubstr("memory low changes nothing")));
}

TEST(RunModel, TimesRunsAndNodesAsOftenAsAskedTo) {
  ModelRunOptions options{{.device = "host"}, 3, {}, true};
  const RunRecord timed = run_of(small_model(), small_inputs(), options).record;
  EXPECT_GE(timed.median_ms, timed.min_ms);
  EXPECT_THAT(timed.nodes, Each(Field(&NodeRecord::ms, Ge(0))));
  options.repeat = 0;
  const RunRecord once = run_of(small_model(), small_inputs(), options).record;
  EXPECT_EQ(once.min_ms, 0);
  EXPECT_EQ(once.median_ms, 0);
}

TEST(RunModel, TakesAnotherShapeWithinWhatTheModelLeavesOpen) {
  const ModelBuilder model = small_model();
  for (const int64_t rows : {int64_t{0}, int64_t{1}, int64_t{5}}) {
    const ModelRun run = run_of(model, {{"x", Tensor::create(DType::kF32, {rows, 2}).value()}});
    EXPECT_EQ(run.outputs.at("y").shape(), (Shape{rows, 2}));
  }
}

TEST(RunModel, GivesConstantsAndInputsThatAreOutputs) {
  ModelBuilder model;
  model.input("x", {2}).constant("k", {1}, {7});
  model.node("Identity", {"k"}, {"same"});
  model.output("x").output("k").output("same");
  const ModelRun run = run_of(model, {{"x", Tensor::of<float>({2}, {1, 2})}});
  EXPECT_EQ(test::floats(run.outputs.at("x")), (std::vector<float>{1, 2}));
  EXPECT_EQ(test::floats(run.outputs.at("k")), (std::vector<float>{7}));
  EXPECT_EQ(test::floats(run.outputs.at("same")), (std::vector<float>{7}));
  EXPECT_THAT(run.record.nodes, IsEmpty());
}

// A shape that comes in as an input becomes part of the plan.
TEST(RunModel, TakesAShapeThatIsGivenAsAnInput) {
  ModelBuilder model;
  model.input("x", {6}).input("shape", {2}, 7);
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  const Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
  const auto shaped = [&](std::initializer_list<int64_t> shape) {
    return run_model(model.build(), {{"x", x}, {"shape", Tensor::of<int64_t>({2}, shape)}}, nullptr,
                     {});
  };
  EXPECT_EQ(shaped({3, -1})->outputs.at("y").shape(), (Shape{3, 2}));
  EXPECT_EQ(shaped({1, 6})->outputs.at("y").shape(), (Shape{1, 6}));
  for (const auto& wrong : {test::list({4, -1}), test::list({-1, -1}), test::list({7, 1}),
                            test::list({INT64_MAX, INT64_MAX}), test::list({-2, 3})}) {
    const auto run =
        run_model(model.build(),
                  {{"x", x}, {"shape", Tensor::from(Shape{2}, std::span<const int64_t>(wrong))}},
                  nullptr, {});
    ASSERT_FALSE(run) << wrong[0];
    EXPECT_THAT(run.error().message, AllOf(HasSubstr("Reshape"), Not(HasSubstr("\n"))));
  }
}

TEST(RunModel, RefusesInputsThatTheModelDoesNotTake) {
  const Tensor good = small_inputs().at("x");
  const std::pair<Inputs, const char*> rows[] = {
      {{}, "the model's input 'x' was not given"},
      {{{"x", good}, {"q", good}}, "no input 'q'; its first input is 'x'"},
      {{{"x", good}, {"k", good}}, "no input 'k'"},
      {{{"x", Tensor::of<int64_t>({1, 2}, {1, 2})}}, "input 'x' is i64, but the model takes f32"},
      {{{"x", Tensor::of<float>({2}, {1, 2})}}, "input 'x' is [2], but the model takes [?,2]"},
      {{{"x", Tensor::of<float>({1, 3}, {1, 2, 3})}}, "[1,3]"},
      {{{"x", Tensor()}}, "[0]"},
  };
  for (const auto& [inputs, part] : rows) {
    const auto run = run_model(small_model().build(), inputs, nullptr, {});
    ASSERT_FALSE(run) << part;
    EXPECT_EQ(run.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(run.error().message, AllOf(HasSubstr(part), Not(HasSubstr("\n"))));
  }
}

TEST(RunModel, NamesTheNodeThatFailsOnValues) {
  ModelBuilder model;
  model.constant("table", {2, 1}, {1, 2}).input("ids", {1}, 7);
  model.node("Gather", {"table", "ids"}, {"y"});
  model.output("y");
  const auto run = run_model(model.build(), {{"ids", Tensor::of<int64_t>({1}, {2})}}, nullptr, {});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("Gather_y"));
}

TEST(RunModel, IsStrictWhereNoDeviceCanRunTheModel) {
  ModelRunOptions options;
  options.strict = true;
  Report report;
  report.devices = {test::device_with()};
  for (const Report* given : {static_cast<const Report*>(nullptr), &std::as_const(report)}) {
    const auto run = run_model(small_model().build(), small_inputs(), given, options);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(run.error().message, HasSubstr("--strict: no device can run the model"));
  }
  options.device = "host";
  EXPECT_TRUE(run_model(small_model().build(), small_inputs(), nullptr, options))
      << "the host was asked for";
}

TEST(RunModel, RefusesASelectorOfNoDevice) {
  Report report;
  report.devices = {test::device_with()};
  const auto run = run_model(small_model().build(), small_inputs(), &report,
                             {{.device = "nothing of the kind"}});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kNoDevice);
}

// Loading a driver that is not there fails: the answer is the host's, and the record says so.
TEST(RunModel, FallsToTheHostWhereTheDeviceOfTheReportIsGone) {
  DeviceReport device = test::device_with();
  device.library = "/nonexistent/libOpenCL.so";
  const Report report = test::report_of(device);
  const ModelRun run = run_of(small_model(), small_inputs(), {}, &report);
  EXPECT_EQ(test::floats(run.outputs.at("y")), (std::vector<float>{10, 22, 13, 20}));
  EXPECT_EQ(run.record.device, "host");
  ASSERT_EQ(run.record.fallbacks.size(), 1u);
  EXPECT_EQ(run.record.fallbacks[0].to, "host");
  EXPECT_EQ(run.record.fallbacks[0].from, "Board");
  EXPECT_THAT(run.record.warnings.back(), HasSubstr("computed again on the host"));
  EXPECT_THAT(run.record.nodes, Each(Field(&NodeRecord::place, Place::kHost)));
  const auto strict = run_model(small_model().build(), small_inputs(), &report, {{.strict = true}});
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(strict.error().message, HasSubstr("--strict: "));
}

TEST(RunModel, ExecutesAPlanThatIsGivenOnlyForTheSameModelAndInputs) {
  const ModelBuilder model = small_model();
  Graph graph = model.build();
  ASSERT_TRUE(optimise(graph));
  graph = specialise(graph, {{"x", {2, 2}}}).value();
  ModelRunOptions options;
  options.model_key = "key";
  options.plan = plan_network_on(graph, {.model = "key"})->plan;
  EXPECT_EQ(test::floats(run_of(model, small_inputs(), options).outputs.at("y")),
            (std::vector<float>{10, 22, 13, 20}));
  EXPECT_FALSE(run_model(model.build(), {{"x", test::noise({3, 2})}}, nullptr, options))
      << "another shape";
  options.model_key = "another";
  EXPECT_FALSE(run_model(model.build(), small_inputs(), nullptr, options)) << "another model";
  options.model_key = "key";
  options.plan->phases[0].steps.pop_back();
  EXPECT_FALSE(run_model(model.build(), small_inputs(), nullptr, options)) << "a step is gone";
}

}  // namespace
}  // namespace clvet
