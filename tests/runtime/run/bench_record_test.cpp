#include "runtime/run/bench_record.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernels/combination.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/figures.h"
#include "runtime/run/random_inputs.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// By hand, or by numpy (ddof=1).
TEST(Figures, AreThoseOfTheSamples) {
  const auto figures = figures_of({4, 2, 8, 6});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->count, 4u);
  EXPECT_EQ(figures->mean, 5);
  EXPECT_NEAR(*figures->sigma, 2.581988897471611, 1e-12);
  EXPECT_EQ(figures->min, 2);
  EXPECT_EQ(figures->median, 6);
  EXPECT_EQ(figures->p90, 8);
  EXPECT_EQ(figures->max, 8);
}

TEST(Figures, TakePercentilesByNearestRank) {
  std::vector<double> hundred, ten;
  for (int i = 100; i >= 1; --i) hundred.push_back(i);
  for (int i = 1; i <= 10; ++i) ten.push_back(i);
  EXPECT_EQ(figures_of(hundred)->p90, 90);
  EXPECT_EQ(figures_of(hundred)->p99, 99);
  EXPECT_EQ(figures_of(ten)->p90, 9);
  EXPECT_EQ(figures_of(ten)->p99, 10);
}

TEST(Figures, HaveNoSigmaOfOneSampleAndAreNoneOfNone) {
  EXPECT_FALSE(figures_of({}));
  const auto one = figures_of({3});
  EXPECT_EQ(one->p99, 3);
  EXPECT_EQ(one->median, 3);
  EXPECT_FALSE(one->sigma);
}

BenchRecord sample_record() {
  BenchRecord record;
  record.model = "a,\"b\".onnx";
  record.format = "onnx";
  record.device = "\xff board";
  record.combination = {Precision::kHigh, std::nullopt, Storage::kBuffer, std::nullopt};
  record.measurements = {{"prompt", 8, {2, 6}}, {"token", 1, {}}};
  return record;
}

TEST(BenchRecord, TellsTokensASecondAtTheMeanAndNullForWhatWasNotTimed) {
  const auto json = nlohmann::json::parse(bench_record_to_json(sample_record()));
  const auto& rows = json.at("measurements");
  EXPECT_EQ(rows[0].at("tokens_per_s"), 2000.0);
  EXPECT_EQ(rows[0].at("mean_ms"), 4.0);
  for (const char* name : {"mean_ms", "p99_ms", "sigma_ms", "tokens_per_s"})
    EXPECT_TRUE(rows[1].at(name).is_null()) << name;
  EXPECT_TRUE(json.at("seed").is_null());
}

TEST(BenchRecord, QuotesNamesInATable) {
  const std::string csv = bench_record_to_csv(sample_record());
  EXPECT_THAT(csv, HasSubstr("\r\n\"a,\"\"b\"\".onnx\",\"\xEF\xBF\xBD board\",high,,buffer,,"
                             "prompt,2,4,2,6,6,6,6,2.82842"));
  EXPECT_THAT(csv, HasSubstr("token,0,,,,,,,,\r\n"));
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  EXPECT_EQ(commas(csv.substr(0, csv.find('\r'))), 15);
}

Graph graph_with(const std::map<std::string, std::optional<TensorType>>& inputs) {
  Graph graph;
  for (const auto& [name, type] : inputs) {
    Value value;
    value.name = name;
    if (type) {
      value.dtype = type->dtype;
      value.shape = type->shape;
    }
    graph.inputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back(value);
  }
  return graph;
}

TEST(RandomInputs, AreTheSameForASeedAndWithinBounds) {
  const Graph graph = graph_with({{"f", TensorType{DType::kF32, {1000}}},
                                  {"h", TensorType{DType::kF16, {10}}},
                                  {"i", TensorType{DType::kI64, {100}}},
                                  {"none", TensorType{DType::kF32, {0, 3}}}});
  const auto one = random_inputs(graph, {}, 7), again = random_inputs(graph, {}, 7),
             other = random_inputs(graph, {}, 8);
  ASSERT_TRUE(one && again && other);
  EXPECT_EQ(one->at("f").to_f64(), again->at("f").to_f64());
  EXPECT_NE(one->at("f").to_f64(), other->at("f").to_f64());
  double sum = 0;
  for (const double value : one->at("f").to_f64()) {
    EXPECT_LE(std::abs(value), 1);
    sum += value;
  }
  EXPECT_LT(std::abs(sum / 1000), 0.1);
  EXPECT_THAT(one->at("i").to_i64(), testing::Each(testing::AnyOf(0, 1)));
  EXPECT_EQ(one->at("none").elements(), 0);
}

TEST(RandomInputs, NameTheInputThatIsOpenOrUnknownOrTooLarge) {
  const Graph graph = graph_with({{"x", TensorType{DType::kF32, {1, -1}}}});
  EXPECT_THAT(random_inputs(graph, {}, 0).error().message, HasSubstr("input 'x' are open"));
  EXPECT_TRUE(random_inputs(graph, {{"x", {1, 2}}}, 0));
  EXPECT_THAT(random_inputs(graph, {{"x", {1, 2}}, {"z", {1}}}, 0).error().message,
              HasSubstr("no input 'z'"));
  EXPECT_FALSE(random_inputs(graph, {{"x", {INT64_MAX, 8}}}, 0));
  EXPECT_FALSE(random_inputs(graph, {{"x", {int64_t{1} << 50}}}, 0));
  EXPECT_FALSE(random_inputs(graph_with({{"x", std::nullopt}}), {{"x", {1}}}, 0));
}

TEST(RandomTokens, AreBelowTheVocabulary) {
  EXPECT_THAT(random_tokens(100, 3, 1),
              testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(3))));
  EXPECT_THAT(random_tokens(2, 1, 1), ElementsAre(0, 0));
}

}  // namespace
}  // namespace clvet
