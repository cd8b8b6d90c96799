// What a model takes of memory, counted by hand for one call.
#include "runtime/llm/decoder_memory.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/device_features.h"
#include "runtime/gguf/file.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "tests/runtime/gguf/gguf_builder.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LlmConfig one_layer(int64_t context) {
  LlmConfig config;
  config.layers = 1;
  config.width = 64;
  config.ff = 96;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 16;
  config.context = context;
  config.vocab = 100;
  return config;
}

TEST(DecoderCapacity, BeginsAtTwoHundredAndFiftySixOrAStepsRows) {
  EXPECT_EQ(first_capacity(1), 256);
  EXPECT_EQ(first_capacity(256), 256);
  EXPECT_EQ(first_capacity(300), 300);
}

TEST(DecoderCapacity, DoublesUpToTheContextAndNeverShrinks) {
  std::vector<int64_t> sizes = {256};
  for (int i = 0; i < 5; ++i) sizes.push_back(next_capacity(sizes.back(), one_layer(1500)));
  EXPECT_EQ(sizes, (std::vector<int64_t>{256, 512, 1024, 1500, 1500, 1500}));
  EXPECT_EQ(next_capacity(256, one_layer(100)), 256);
  EXPECT_EQ(next_capacity(int64_t{1} << 40, one_layer(1500)), int64_t{1} << 40);
}

// So layers' parts of one cache begin where devices let parts of buffers begin.
TEST(DecoderCapacity, OfADeviceIsForAMultipleOfEightPositions) {
  std::vector<int64_t> made;
  for (const int64_t positions : {0, 1, 8, 9, 256, 1500})
    made.push_back(device_capacity(positions));
  EXPECT_EQ(made, (std::vector<int64_t>{0, 8, 8, 16, 256, 1504}));
}

// No calls: the caches and the buffers of a step alone.
class Buffers : public ::testing::TestWithParam<Precision> {
 protected:
  Buffers() {
    test::GgufBuilder builder;
    bytes_ = builder.bytes();
    file_ = test::parse_gguf(bytes_).value();
  }
  int64_t element() const { return GetParam() == Precision::kHigh ? 4 : 2; }
  DecoderMemory memory() const {
    const LlmWeights weights(*file_, config_);
    return DecoderMemory::of({}, config_, weights, GetParam()).value();
  }
  const LlmConfig config_ = one_layer(4096);
  std::string bytes_;
  std::optional<GgufFile> file_;
};

TEST_P(Buffers, GrowByKeysAndValuesOfEachPosition) {
  // Two heads of 16, keys and values.
  EXPECT_EQ(memory().cache_bytes(8), 8 * 2 * 32 * element());
  EXPECT_EQ(memory().cache_bytes(1), memory().cache_bytes(8));
  EXPECT_EQ(memory().cache_bytes(1000), 1000 * 2 * 32 * element());
  EXPECT_EQ(memory().bytes(1000) - memory().bytes(0), memory().cache_bytes(1000));
  EXPECT_EQ(memory().weight_bytes(), 0);
}

TEST_P(Buffers, AreOfAStepOrOfTheTextWhicheverIsLarger) {
  // 64 rows of gate and up: 192; of keys 32 a position.
  const auto few = memory().largest(64), many = memory().largest(4096);
  EXPECT_EQ(few.name, "gate_up");
  EXPECT_GE(few.bytes, 64 * 192 * element());
  EXPECT_EQ(many.name, "0.k");
  EXPECT_GE(many.bytes, 4096 * 32 * element());
}

TEST_P(Buffers, NameWhatHasNoRoom) {
  DeviceFeatures limits;
  EXPECT_THAT(memory().misfit(limits, 4096), IsEmpty()) << "limits that are not known are none";
  limits.largest_buffer = memory().largest(4096).bytes;
  limits.memory = memory().bytes(4096);
  EXPECT_THAT(memory().misfit(limits, 4096), IsEmpty());
  limits.memory -= 1;
  EXPECT_THAT(memory().misfit(limits, 4096), HasSubstr("4096 positions need"));
  limits.largest_buffer -= 1;
  EXPECT_THAT(memory().misfit(limits, 4096), AllOf(HasSubstr("'0.k'"), HasSubstr("in one piece")));
  EXPECT_THAT(memory().misfit(limits, 64), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Of, Buffers, ::testing::Values(Precision::kHigh, Precision::kNormal),
                         [](const auto& info) {
                           return info.param == Precision::kHigh ? "floats" : "halves";
                         });

}  // namespace
}  // namespace clvet
