#include "runtime/precision/raised_runs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/watch.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/precision/planted_networks.h"

namespace clvet {
namespace {

using Values = std::map<std::string, Tensor>;

bool alike(const Values& left, const Values& right) {
  for (const auto& [name, tensor] : left) {
    const auto found = right.find(name);
    if (found == right.end() || found->second.type() != tensor.type()) return false;
    if (std::memcmp(tensor.raw(), found->second.raw(), tensor.bytes()) != 0) return false;
  }
  return left.size() == right.size();
}

Values from_the_start(const Emulation& emulation, const Values& inputs, const Raised& raised) {
  LowRun run(emulation, inputs);
  for (const bool one : raised) EXPECT_TRUE(run.step(one));
  EXPECT_TRUE(run.done());
  return run.outputs();
}

TEST(RaisedRuns, GiveWhatARunFromTheStartGives) {
  std::mt19937 random(7);
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const auto network = test::planted_network(test::kAllPlanted[seed % 7], seed);
    const Graph graph = specialise(network.graph, shapes_of(network.inputs)).value();
    const Emulation emulation(graph, {NumberFormat::kHalf, false});
    RaisedRuns runs(emulation);
    const auto watched = watch(emulation, network.inputs);
    ASSERT_TRUE(watched && watched->before);
    EXPECT_GT(watched->before->next(), 0u);
    runs.offer(0, *watched->before);
    Values other = network.inputs;
    other["x"] = test::noise(network.inputs.at("x").shape());
    for (int trial = 0; trial < 40; ++trial) {
      Raised raised(graph.nodes.size(), false);
      for (size_t n = random() % raised.size(); n < raised.size(); ++n)
        raised[n] = random() % 3 == 0;
      const size_t input = random() % 3;
      const Values& values = input == 1 ? other : network.inputs;
      const auto found = runs.run(input, values, raised);
      ASSERT_TRUE(found);
      EXPECT_TRUE(alike(*found, from_the_start(emulation, values, raised))) << seed;
    }
  }
}

TEST(RaisedRuns, WithAllNodesRaisedAreTheNetworkItself) {
  const auto network = test::planted_network(test::Planted::kNone, 3);
  const Graph graph = specialise(network.graph, shapes_of(network.inputs)).value();
  const Emulation emulation(graph, {NumberFormat::kHalf, false});
  RaisedRuns runs(emulation);
  const auto high = runs.run(0, network.inputs, Raised(graph.nodes.size(), true));
  const auto exact = HostExecutor(graph).run(network.inputs);
  ASSERT_TRUE(high && exact);
  EXPECT_TRUE(alike(*high, exact->outputs));
}

// A value that a raised node wrote is rounded where a node of low precision reads it, and nowhere
// else, though both read the same memory.
TEST(LowRun, RoundsWhatARaisedNodeWroteForReadersOfLowPrecisionAlone) {
  test::ModelBuilder model;
  model.input("x", {1});
  model.node("Add", {"x", "x"}, {"sum"});
  model.node("Identity", {"sum"}, {"low"});
  model.node("Identity", {"sum"}, {"high"});
  model.output("low");
  model.output("high");
  const Graph graph = model.build();
  const Emulation emulation(graph, {NumberFormat::kHalf, false});
  LowRun run(emulation, {{"x", Tensor::of<float>({1}, {1 + 1.f / 4096})}});
  ASSERT_TRUE(run.step(true));
  ASSERT_TRUE(run.step(false));
  ASSERT_TRUE(run.step(true));
  EXPECT_EQ(run.outputs().at("low").data<float>()[0], 2);
  EXPECT_EQ(run.outputs().at("high").data<float>()[0], 2 + 2.f / 4096);
}

// Constants and inputs of the caller are nobody's to round in place.
TEST(LowRun, LeavesTheCallersTensorsAsTheyAre) {
  test::ModelBuilder model;
  model.input("x", {2});
  model.node("Identity", {"x"}, {"y"});
  model.output("y");
  const Graph graph = model.build();
  const Emulation emulation(graph, {NumberFormat::kHalf, false});
  const Tensor x = Tensor::of<float>({2}, {1e-9f, 70000});
  LowRun run(emulation, {{"x", x}});
  ASSERT_TRUE(run.step(false));
  EXPECT_EQ(run.outputs().at("y").data<float>()[0], 0);
  EXPECT_EQ(x.data<float>()[0], 1e-9f);
  EXPECT_EQ(x.data<float>()[1], 70000);
}

}  // namespace
}  // namespace clvet
