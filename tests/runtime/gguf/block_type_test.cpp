// Blocks of each type against values that tests/data/gguf/make_blocks.py states.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/half.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/layout.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/repack.h"
#include "tests/json_fields.h"

namespace clvet {
namespace {

using testing::HasSubstr;

struct BlockCase {
  std::string type;
  std::vector<std::byte> bytes;
  std::vector<double> weights;
};

const std::vector<BlockCase>& block_cases() {
  static const auto table = [] {
    std::vector<BlockCase> rows;
    const test::JsonFields blocks(*read_file(CLVET_SOURCE_DIR "/tests/data/gguf/blocks.json"));
    for (const std::string& number : blocks.names("")) {
      BlockCase& made = rows.emplace_back();
      made.type = blocks.text("/" + number + "/type");
      made.weights = blocks.numbers("/" + number + "/weights");
      const std::string hex = blocks.text("/" + number + "/bytes");
      for (size_t i = 0; i < hex.size(); i += 2) {
        made.bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
      }
    }
    return rows;
  }();
  return table;
}

class EveryBlock : public testing::TestWithParam<size_t> {
 protected:
  const BlockCase& row() const { return block_cases()[GetParam()]; }
  const BlockType& type() const { return *find_block_type(row().type); }
};

TEST_P(EveryBlock, MeansTheNearestFloatsOfItsWeights) {
  std::vector<float> got(row().weights.size());
  const Status done = dequantize(type(), row().bytes, got);
  ASSERT_TRUE(done) << done.error().message;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], static_cast<float>(row().weights[i])) << row().type << " element " << i;
  }
}

TEST_P(EveryBlock, ComesExactlyIntoQuantsScalesAndMinimums) {
  const auto columns = static_cast<int64_t>(row().weights.size());
  const auto weights = repack(type(), row().bytes, 1, columns);
  if (!type().quantised()) {
    EXPECT_EQ(weights.error().code, ErrorCode::kUnsupported);
    return;
  }
  ASSERT_TRUE(weights) << weights.error().message;
  EXPECT_EQ(weights->block, row().type == "Q6_K" ? 16 : 32);
  EXPECT_EQ(weights->scales.size() * static_cast<size_t>(weights->block), row().weights.size());
  const int most = weights->type == WeightType::kInt4 ? 15 : 255;
  for (size_t i = 0; i < row().weights.size(); ++i) {
    const size_t block = i / static_cast<size_t>(weights->block);
    ASSERT_LE(weights->quants[i], most);
    const double exact = static_cast<double>(weights->scales[block]) * weights->quants[i] +
                         static_cast<double>(weights->minimums[block]);
    ASSERT_EQ(exact, row().weights[i]) << row().type << " element " << i;
  }
}

// What block_type.h promises to devices that store scales as half.
TEST_P(EveryBlock, StaysWithinItsBoundWhereScalesAreStoredAsHalf) {
  if (!type().quantised()) return;
  const auto weights = *repack(type(), row().bytes, 1, static_cast<int64_t>(row().weights.size()));
  const bool exact = row().type.find("_K") == std::string::npos;
  const auto error = [&](float value) {
    const double bound =
        exact ? 0.0 : std::max(std::ldexp(std::abs(double{value}), -11), std::ldexp(1.0, -25));
    EXPECT_LE(std::abs(half_to_float(double_to_half(value)) - static_cast<double>(value)), bound)
        << row().type;
  };
  for (const float scale : weights.scales) error(scale);
  for (const float minimum : weights.minimums) error(minimum);
}

INSTANTIATE_TEST_SUITE_P(All, EveryBlock, testing::Range(size_t{0}, block_cases().size()));

TEST(BlockTypes, HaveUniqueNumbersAndNamesAndACaseWhereTheyCanBeRead) {
  std::set<uint32_t> ids;
  std::set<std::string_view> names, tested;
  for (const BlockCase& row : block_cases()) tested.insert(row.type);
  for (const BlockType& type : block_types()) {
    EXPECT_TRUE(ids.insert(type.id).second) << type.name;
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_EQ(find_block_type(type.id), &type);
    EXPECT_EQ(find_block_type(type.name), &type);
    EXPECT_GT(type.bytes, 0);
    EXPECT_EQ(tested.count(type.name), type.readable() ? 1u : 0u) << type.name;
    if (!type.quantised()) continue;
    EXPECT_EQ(type.elements % type.group, 0) << type.name;
    EXPECT_LE(type.group, kQuantBlock) << type.name;
  }
  EXPECT_EQ(find_block_type(4), nullptr) << "withdrawn from the format";
}

TEST(Dequantize, RefusesSizesThatDoNotFit) {
  const BlockType& type = *find_block_type("Q8_0");
  std::vector<std::byte> bytes(68);
  std::vector<float> out(32);
  EXPECT_FALSE(dequantize(type, bytes, out));
  out.resize(63);
  EXPECT_FALSE(dequantize(type, bytes, out));
  out.resize(64);
  EXPECT_TRUE(dequantize(type, bytes, out));
}

TEST(Dequantize, NamesATypeThatItCannotReadAndThoseThatItCan) {
  std::vector<std::byte> bytes(84);
  std::vector<float> out(256);
  const Status done = dequantize(*find_block_type("Q2_K"), bytes, out);
  EXPECT_EQ(done.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(done.error().message, HasSubstr("Q2_K"));
  EXPECT_THAT(done.error().message, HasSubstr("Q4_1"));
}

TEST(Repack, KeepsRowsApart) {
  const BlockType& type = *find_block_type("Q8_0");
  std::vector<std::byte> bytes(4 * 34);
  for (size_t block = 0; block < 4; ++block) {
    bytes[block * 34 + 1] = std::byte{0x3C};  // d = 1
    bytes[block * 34 + 2] = static_cast<std::byte>(block);
  }
  const auto weights = repack(type, bytes, 2, 64);
  ASSERT_TRUE(weights);
  EXPECT_EQ(weights->quants[64], 128 + 2) << "the second row's first column";
  EXPECT_EQ(weights->scales, (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(weights->minimums[3], -128);
}

TEST(Repack, RefusesSizesThatDoNotFit) {
  const BlockType& type = *find_block_type("Q4_0");
  const std::vector<std::byte> bytes(36);
  EXPECT_TRUE(repack(type, bytes, 2, 32));
  EXPECT_TRUE(repack(type, bytes, 1, 64));
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 32}, {4, 16}, {0, 32}, {-2, -32}, {INT64_MAX, 32}, {INT64_MAX / 2, 1 << 20}}) {
    EXPECT_FALSE(repack(type, bytes, rows, columns)) << rows << " " << columns;
  }
}

}  // namespace
}  // namespace clvet
