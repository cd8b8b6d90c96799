#include "runtime/precision/engine_advice.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<FileNode> kTwo = {{"bn/1", "BatchNormalization", {"conv"}, {"norm"}},
                                    {"gelu", "Gelu", {"norm", "z"}, {"out"}}};

std::vector<EngineAdvice> advice(NumberFormat format, const std::vector<FileNode>& nodes = kTwo) {
  auto found = engine_advice(format, nodes);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : std::vector<EngineAdvice>{};
}

EngineAdvice of(const std::string& engine, const std::vector<EngineAdvice>& rows) {
  for (const EngineAdvice& row : rows)
    if (row.engine == engine) return row;
  ADD_FAILURE() << "no advice for " << engine;
  return {};
}

TEST(EngineAdvice, HasARowForEachEngineOfHalf) {
  std::set<std::string> engines;
  for (const EngineAdvice& row : advice(NumberFormat::kHalf)) {
    EXPECT_TRUE(engines.insert(row.engine).second) << row.engine << " twice";
    EXPECT_FALSE(row.text.empty() || row.chinese.empty() || row.settings.empty()) << row.engine;
    for (const std::string& source : row.sources) EXPECT_THAT(source, HasSubstr("https://"));
    EXPECT_FALSE(row.sources.empty()) << row.engine;
  }
  EXPECT_THAT(engines, ElementsAre("mnn", "ncnn", "onnxruntime", "paddle-lite", "tflite"));
}

TEST(EngineAdvice, SaysWhichEnginesKeepSingleNodes) {
  for (const EngineAdvice& row : advice(NumberFormat::kHalf)) {
    const bool single = row.engine != "mnn" && row.engine != "tflite";
    EXPECT_EQ(row.single_nodes, single) << row.engine;
  }
}

TEST(EngineAdvice, NamesTheNodesAsEachEngineDoes) {
  const auto rows = advice(NumberFormat::kHalf);
  EXPECT_THAT(of("ncnn", rows).settings, ElementsAre("bn/1 ... 31=3", "gelu ... 31=3"));
  EXPECT_THAT(of("paddle-lite", rows).settings,
              ElementsAre("device:cpu", "batch_norm:conv:norm", "<Gelu>:norm,z:out"));
  EXPECT_THAT(of("onnxruntime", rows).settings,
              Contains(HasSubstr(R"(node_block_list=["bn/1", "gelu"])")));
}

TEST(EngineAdvice, AsksForAnotherMaskWhereBfloatIsStored) {
  const auto rows = advice(NumberFormat::kBfloat);
  EXPECT_THAT(of("ncnn", rows).settings, Contains("gelu ... 31=4"));
  for (const EngineAdvice& row : rows) EXPECT_NE(row.engine, "tflite");
}

TEST(EngineAdvice, QuotesNamesThatWouldEndAString) {
  const auto rows = advice(NumberFormat::kHalf, {{R"(a"] \ {name})", "Mul", {}, {"{op}"}}});
  EXPECT_THAT(of("onnxruntime", rows).settings, Contains(HasSubstr(R"(=["a\"] \\ {name}"])")));
  EXPECT_THAT(of("paddle-lite", rows).settings, Contains("elementwise_mul::{op}"));
}

TEST(EngineAdvice, LeavesNoFieldUnfilled) {
  for (const NumberFormat format : {NumberFormat::kHalf, NumberFormat::kBfloat})
    for (const EngineAdvice& row : advice(format))
      for (const std::string& line : row.settings) EXPECT_THAT(line, Not(HasSubstr("{")));
}

}  // namespace
}  // namespace clvet
