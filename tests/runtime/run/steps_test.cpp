// Models on the host, step by step.
#include "runtime/run/steps.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/run_model.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Inputs = std::map<std::string, Tensor>;

// next = state + x; y = -next
ModelBuilder sums() {
  ModelBuilder model;
  model.input("x", {2}).input("state", {2});
  model.node("Add", {"state", "x"}, {"next"});
  model.node("Neg", {"next"}, {"y"});
  model.output("y").output("next");
  return model;
}

// next = cache, x; y = the same
ModelBuilder growing() {
  ModelBuilder model;
  model.input("x", {1, 2}).input("cache", {-1, 2});
  test::set_int(model.node("Concat", {"cache", "x"}, {"next"}), "axis", 0);
  model.node("Neg", {"next"}, {"y"});
  model.output("y").output("next");
  return model;
}

Result<ModelRun> run_of(const ModelBuilder& model, const Inputs& inputs, StepOptions steps) {
  ModelRunOptions options;
  options.steps = std::move(steps);
  return run_model(model.build(), inputs, nullptr, options);
}

std::string fault_of(const ModelBuilder& model, const StepOptions& steps) {
  const auto served = inputs_of_steps(model.build(), steps);
  return served ? "accepted" : served.error().message;
}

const Tensor kSeries = Tensor::of<float>({3, 2}, {1, 2, 10, 20, 100, 200});

TEST(StepByStep, GiveBackWhatTheyMake) {
  const auto run = run_of(sums(), {}, {{{"next", "state"}}, {{"x", kSeries}}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->outputs.at("y").shape(), (Shape{3, 2}));
  EXPECT_THAT(test::floats(run->outputs.at("y")), ElementsAre(-1, -2, -11, -22, -111, -222));
  EXPECT_THAT(test::floats(run->outputs.at("next")), ElementsAre(111, 222));
  EXPECT_EQ(run->record.samples_ms.size(), 2u);
}

TEST(StepByStep, BeginWithTheValueThatTheCallerGives) {
  const Inputs inputs{{"x", Tensor::of<float>({2}, {1, 1})},
                      {"state", Tensor::of<float>({2}, {5, 6})}};
  const auto run = run_of(sums(), inputs, {{{"next", "state"}}, {}, 4});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(test::floats(run->outputs.at("next")), ElementsAre(9, 10));
}

TEST(StepByStep, MayChangeTheShapesOfWhatIsFedBack) {
  const Inputs inputs{{"x", Tensor::of<float>({1, 2}, {1, 2})},
                      {"cache", *Tensor::create(DType::kF32, {0, 2})}};
  const auto run = run_of(growing(), inputs, {{{"next", "cache"}}, {}, 3});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->outputs.at("next").shape(), (Shape{3, 2}));
  EXPECT_EQ(run->outputs.at("y").shape(), (Shape{3, 2})) << "of the last step";
  EXPECT_THAT(run->record.warnings, Contains(HasSubstr("'y' has another shape in each step")));
}

TEST(StepByStep, NeedNoValueOfWhatTheyServeThemselves) {
  const StepOptions steps{{{"next", "state"}}, {{"x", kSeries}}};
  EXPECT_THAT(*inputs_of_steps(sums().build(), steps), ElementsAre("x", "state"));
  EXPECT_THAT(*inputs_of_steps(growing().build(), {{{"next", "cache"}}, {}}), IsEmpty());
}

TEST(StepByStep, SayWhichNameIsWrong) {
  EXPECT_THAT(fault_of(sums(), {{{"z", "state"}}, {}}),
              HasSubstr("no output 'z'; it makes y, next"));
  EXPECT_THAT(fault_of(sums(), {{{"next", "z"}}, {}}),
              HasSubstr("no input 'z'; it takes x, state"));
  EXPECT_THAT(fault_of(sums(), {{{"next", "state"}, {"y", "state"}}, {}}), HasSubstr("two values"));
  EXPECT_THAT(fault_of(sums(), {{{"next", "x"}}, {{"x", kSeries}}}), HasSubstr("two values"));
  EXPECT_THAT(
      fault_of(sums(), {{}, {{"x", kSeries}, {"state", Tensor::of<float>({1, 2}, {1, 2})}}}),
      HasSubstr("3 steps, but that of 'state' has 1"));
  EXPECT_THAT(fault_of(sums(), {{}, {{"x", Tensor::scalar<float>(1)}}}), HasSubstr("no steps"));
}

}  // namespace
}  // namespace clvet
