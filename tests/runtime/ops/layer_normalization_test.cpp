#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;

// x [2, 2, 3] with `parameters` of the axes from `axis` on.
ModelBuilder model_of(int64_t axis, const Shape& parameters, const std::vector<float>& scale,
                      bool statistics = false) {
  ModelBuilder model(17);
  model.input("x", {2, 2, 3}).constant("scale", parameters, scale);
  auto& node = statistics
                   ? model.node("LayerNormalization", {"x", "scale"}, {"y", "mean", "factor"})
                   : model.node("LayerNormalization", {"x", "scale"}, {"y"});
  test::set_int(node, "axis", axis);
  test::set_float(node, "epsilon", 0.25f);
  model.output("y");
  if (statistics) model.output("mean").output("factor");
  return model;
}

const Tensor kX = Tensor::of<float>({2, 2, 3}, {1, 2, 3, 0, 0, 6, -1, 1, 0, 4, 4, 4});

TEST(LayerNormalization, IsOverTheLastAxis) {
  const HostExecutor executor(model_of(-1, {3}, {1, 2, 3}).build());
  const auto run = executor.run({{"x", kX}});
  ASSERT_TRUE(run) << run.error().message;
  const float* y = run->outputs.at("y").data<float>();
  const double first = 1 / std::sqrt(2.0 / 3 + 0.25), second = 1 / std::sqrt(8 + 0.25);
  const std::vector<double> want = {-first, 0, 3 * first, -2 * second, -4 * second, 12 * second};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y[i], want[i], 1e-6) << i;
  for (size_t i = 9; i < 12; ++i) EXPECT_EQ(y[i], 0) << "a row of equal values";
}

TEST(LayerNormalization, IsOverAllAxesFromTheGivenOneOnAndGivesItsStatistics) {
  const HostExecutor executor(model_of(1, {2, 3}, {1, 1, 1, 1, 1, 1}, true).build());
  const auto run = executor.run({{"x", kX}});
  ASSERT_TRUE(run) << run.error().message;
  const Tensor &mean = run->outputs.at("mean"), &factor = run->outputs.at("factor");
  EXPECT_EQ(mean.shape(), (Shape{2, 1, 1}));
  EXPECT_FLOAT_EQ(mean.data<float>()[0], 2);
  EXPECT_FLOAT_EQ(mean.data<float>()[1], 2);
  const double variance = (1 + 0 + 1 + 4 + 4 + 16) / 6.0;
  EXPECT_NEAR(factor.data<float>()[0], 1 / std::sqrt(variance + 0.25), 1e-6);
}

TEST(LayerNormalization, RefusesAScaleThatDoesNotFit) {
  Graph graph = model_of(-1, {2}, {1, 2}).build();
  const Status status = infer_and_fold(graph);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("do not fit together"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace clvet
