#include "runtime/precision/failing_part.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/writer.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/precision/planted_networks.h"

namespace clvet {
namespace {

using test::Planted;
using testing::HasSubstr;

struct Case {
  const Graph& graph;
  std::vector<CalibrationInput> inputs;
  DiagnoseOptions options;
};

PrecisionDiagnosis diagnose(const Case& one) {
  auto found = diagnose_network(one.graph, one.inputs, one.options);
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : PrecisionDiagnosis{};
}

// Written, read and diagnosed: it names what the network's own diagnosis names.
void expect_shown(const FailingPart& part, const ErrorOrigin& origin,
                  const DiagnoseOptions& options) {
  const auto bytes = format_onnx(part.graph);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto read = parse_onnx(*bytes, "failing.onnx");
  ASSERT_TRUE(read) << read.error().message;
  const PrecisionDiagnosis found = diagnose({*read, {{"part", part.inputs}}, options});
  ASSERT_FALSE(found.origins.empty());
  EXPECT_EQ(found.origins[0].name, origin.name);
  EXPECT_EQ(found.origins[0].op, origin.op);
  EXPECT_EQ(found.origins[0].blame.fault, origin.blame.fault);
  EXPECT_EQ(found.origins[0].blame.value, origin.blame.value);
}

class FailingParts : public testing::TestWithParam<Planted> {};

TEST_P(FailingParts, ShowTheSameFaultAndOrigin) {
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    const auto network = test::planted_network(GetParam(), seed);
    for (const Policy policy : {Policy::kNaive, Policy::kEngine}) {
      const DiagnoseOptions options{.policy = policy};
      const Case whole{network.graph, {{"input", network.inputs}}, options};
      const PrecisionDiagnosis found = diagnose(whole);
      if (!found.plan) continue;  // fusing may cure it
      const auto part = failing_part(network.graph, whole.inputs, found, options);
      ASSERT_TRUE(part) << seed << ": " << part.error().message;
      EXPECT_LT(part->graph.nodes.size(), network.graph.nodes.size()) << seed;
      expect_shown(*part, found.origins[0], options);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, FailingParts, testing::ValuesIn(test::kAllPlanted));

// y = -(x * x * 2^-10 - z)
Graph squares() {
  test::ModelBuilder model;
  model.input("x", {4}).input("z", {4}).constant("c", {1}, {1.f / 1024});
  model.node("Neg", {"z"}, {"n"}).set_name("before");
  model.node("Mul", {"x", "x"}, {"s"}).set_name("square");
  model.node("Mul", {"s", "c"}, {"t"}).set_name("small");
  model.node("Add", {"t", "n"}, {"a"}).set_name("add");
  model.node("Neg", {"a"}, {"y"}).set_name("behind");
  return model.output("y").build();
}

TEST(FailingPart, HoldsTheOriginAndWhatEntersIt) {
  const Graph graph = squares();
  const Tensor small = Tensor::of<float>({4}, {1, 2, 3, 4}),
               large = Tensor::of<float>({4}, {1, 300, 3, 4}), z = test::noise({4});
  const Case one{graph,
                 {{"good", {{"x", small}, {"z", z}}}, {"bad", {{"x", large}, {"z", z}}}},
                 {.policy = Policy::kNaive}};
  const auto part = failing_part(graph, one.inputs, diagnose(one), one.options);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->input, "bad");
  ASSERT_EQ(part->graph.nodes.size(), 1u);
  EXPECT_EQ(part->graph.nodes[0].name, "square");
  ASSERT_EQ(part->inputs.size(), 1u);
  EXPECT_EQ(part->inputs.at("x").values<float>()[1], 300);
  EXPECT_EQ(part->outputs.at("s").values<float>()[1], 90000);
}

// The difference alone is 3 % off, which is within the target; behind it little is left of the
// values.
TEST(FailingPart, GrowsUntilTheErrorShows) {
  test::ModelBuilder model;
  model.input("x", {64}).constant("c", {1}, {120}).constant("most", {1}, {0.9f});
  model.node("Add", {"x", "c"}, {"a"}).set_name("up");
  model.node("Sub", {"a", "c"}, {"b"}).set_name("down");
  model.node("Mul", {"x", "most"}, {"m"}).set_name("most of it");
  model.node("Sub", {"b", "m"}, {"d"}).set_name("rest");
  model.node("Neg", {"d"}, {"y"}).set_name("behind");
  const Graph graph = model.output("y").build();
  const Case one{graph, {{"one", {{"x", test::noise({64})}}}}, {.policy = Policy::kNaive}};
  const PrecisionDiagnosis found = diagnose(one);
  ASSERT_FALSE(found.origins.empty());
  const auto part = failing_part(graph, one.inputs, found, one.options);
  ASSERT_TRUE(part) << part.error().message;
  expect_shown(*part, found.origins[0], one.options);
  EXPECT_EQ(part->graph.nodes.back().name, "rest") << "and no more";
}

TEST(FailingPart, IsNoneWithoutAnOrigin) {
  const Graph graph = squares();
  const Tensor small = Tensor::of<float>({4}, {1, 2, 3, 4});
  const Case one{graph, {{"good", {{"x", small}, {"z", small}}}}, {.policy = Policy::kNaive}};
  const auto part = failing_part(graph, one.inputs, diagnose(one), one.options);
  ASSERT_FALSE(part);
  EXPECT_THAT(part.error().message, HasSubstr("no single node"));
}

}  // namespace
}  // namespace clvet
