#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/check/check.h"
#include "runtime/check/check_record.h"
#include "runtime/gguf/block_type.h"
#include "tests/json_fields.h"
#include "tests/runtime/gguf/damage.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/llm/tokenizer_files.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::tiny_model;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

CheckRecord checked(const test::GgufBuilder& builder, const Report* report = nullptr) {
  const test::TempDir folder;
  test::put(folder / "m.gguf", builder.bytes());
  auto record = check_gguf(folder / "m.gguf", report);
  EXPECT_TRUE(record) << record.error().message;
  return std::move(*record);
}

// "high/low/buffer/image" on the first device.
const CombinationCheck& row_of(const CheckRecord& record, const std::string& words) {
  for (const CombinationCheck& row : record.devices.front().combinations) {
    if (to_string(row.combination) == words) return row;
  }
  ADD_FAILURE() << words;
  return record.devices.front().combinations.front();
}
const MemoryCheck& memory_of(const CheckRecord& record, const std::string& words) {
  return *row_of(record, words).memory;
}

std::map<std::string, std::map<std::string, int64_t>> uses_of(const CheckRecord& record) {
  std::map<std::string, std::map<std::string, int64_t>> uses;
  for (const TensorTypeCheck& row : record.llm->types) {
    for (const auto& [as, tensors] : row.uses) uses[row.type][as] = tensors;
  }
  return uses;
}

TEST(CheckGguf, SaysWhatAFileThatFitsIsMadeOf) {
  const CheckRecord record = checked(tiny_model("qwen2"));
  EXPECT_TRUE(record.runs());
  EXPECT_EQ(record.llm->config.architecture, "qwen2");
  ASSERT_TRUE(record.llm->tokenizer);
  EXPECT_EQ(record.llm->tokenizer->pre, "qwen2");
  EXPECT_EQ(record.llm->tokenizer->special, 1);
  EXPECT_EQ(record.llm->tokenizer->chat_template, "none");
  ASSERT_EQ(record.llm->types.size(), 2u);
  const TensorTypeCheck& matrices = record.llm->types[1];
  EXPECT_EQ(matrices.type, "Q8_0");
  EXPECT_EQ(matrices.tensors, 1 + 2 * 7);
  EXPECT_EQ(matrices.bytes, matrices.elements / 32 * 34);
  EXPECT_EQ(uses_of(record)["Q8_0"], (std::map<std::string, int64_t>{{"int8", 15}}));
  EXPECT_EQ(uses_of(record)["F32"], (std::map<std::string, int64_t>{{"vector", 11}}));
}

TEST(CheckGguf, SaysWhatWeightsBecomeThatLieBesideOthers) {
  auto builder = tiny_model("llama", {.layers = 1}, "Q4_0");
  const auto change = [&](const char* name, const char* type) {
    auto* row = builder.find(name);
    const BlockType& other = *find_block_type(type);
    row->type = other.id;
    row->data.resize(row->shape[0] * row->shape[1] / static_cast<uint64_t>(other.elements) *
                     static_cast<uint64_t>(other.bytes));
  };
  builder.zeros("output.weight", {64, 7}, "Q4_0");
  change("blk.0.attn_v.weight", "Q8_0");
  change("blk.0.ffn_up.weight", "F16");
  uint64_t offset = 0;
  for (auto& row : builder.tensors) {
    row.offset = offset;
    offset = (offset + row.data.size() + 31) / 32 * 32;
  }
  const auto uses = uses_of(checked(builder));
  EXPECT_EQ(uses.at("Q4_0"), (std::map<std::string, int64_t>{
                                 {"lookup", 1}, {"int4", 3}, {"int8", 2}, {"float", 1}}));
  EXPECT_EQ(uses.at("Q8_0"), (std::map<std::string, int64_t>{{"int8", 1}}));
  EXPECT_EQ(uses.at("F16"), (std::map<std::string, int64_t>{{"float", 1}}));
}

// One layer, worked out by hand from kernels/layout.h. Matrices (inputs to outputs): the tied head
// 64 to 7 (16 padded), q, k and v 64 to 128, o 64 to 64, gate and up 64 to 192, down 96 to 64:
// 31744 elements; a block of 32 has two scales a column: 1984. Vectors: three norms of 64 floats,
// zeros for the longest bias, 192.
constexpr int64_t kElements = 31744, kScales = 1984, kVectors = (3 * 64 + 192) * 4;
// For 64 tokens: four streams of 64, q, k and v 128, query and attended 64, gate and up 192, gated
// 96; the logits of one. For 256 positions: keys and values of 32 each, sines and cosines of 8.
constexpr int64_t kStep = (64 * 800 + 8) * 4, kCache = 256 * 64 * 4, kAngles = 256 * 16 * 4;
// Behind each buffer: five matrices, their scales; six vectors; ten of a step, two of the cache.
constexpr int64_t kSlack = 64;

TEST(CheckGguf, CountsTheMemoryOfWeightsAndCache) {
  const CheckRecord record = checked(tiny_model("llama", {.layers = 1}));
  const auto weights = [&](const char* words) { return memory_of(record, words).weight_bytes; };
  const int64_t slack = 16 * kSlack, images = 11 * kSlack, floats = 11 * kSlack;
  EXPECT_EQ(weights("high/low/buffer/buffer"), kElements + kScales * 4 + kVectors + slack);
  EXPECT_EQ(weights("high/low/buffer/image"), kElements + kScales * 4 + kVectors + images);
  EXPECT_EQ(weights("normal/low/buffer/buffer"), kElements + kScales * 2 + kVectors + slack);
  EXPECT_EQ(weights("high/normal/buffer/buffer"), kElements * 4 + kVectors + floats);
  EXPECT_EQ(weights("low/normal/buffer/buffer"), kElements * 2 + kVectors + floats);
  const MemoryCheck& high = memory_of(record, "high/normal/buffer/buffer");
  EXPECT_EQ(high.largest_bytes, 64 * 192 * 4 + kSlack);
  EXPECT_EQ(high.largest, "0.gate_up");
  EXPECT_EQ(high.start_bytes,
            kElements * 4 + kVectors + kStep + kCache + kAngles + (11 + 12) * kSlack);
}

TEST(CheckGguf, ListsTheSizesThatACacheGrowsThrough) {
  auto builder = tiny_model("llama", {.layers = 1});
  builder.put("llama.context_length", test::gguf_u32(1000));
  const CheckRecord record = checked(builder);
  std::map<int64_t, int64_t> sizes;
  for (const auto& row : memory_of(record, "normal/low/buffer/buffer").caches) {
    sizes[row.positions] = row.bytes;
    EXPECT_FALSE(row.fits) << "no device, no limit";
  }
  EXPECT_EQ(sizes, (std::map<int64_t, int64_t>{
                       {256, 256 * 64 * 2}, {512, 512 * 64 * 2}, {1000, 1000 * 64 * 2}}));
}

TEST(CheckGguf, HalvesInt4WeightsAndLeavesAnUntiedEmbeddingInTheFile) {
  auto builder = tiny_model("llama", {.layers = 1}, "Q4_0");
  const int64_t bytes = kElements / 2 + kScales * 2 + kVectors + 16 * kSlack;
  EXPECT_EQ(memory_of(checked(builder), "normal/low/buffer/buffer").weight_bytes, bytes);
  builder.zeros("output.weight", {64, 7}, "Q4_0");
  EXPECT_EQ(memory_of(checked(builder), "normal/low/buffer/buffer").weight_bytes, bytes);
}

TEST(CheckGguf, SaysThatShorterBlocksAreQuantisedAgain) {
  const test::TinyShape shape{.layers = 1, .width = 256, .ff = 256, .head_dim = 64};
  const CheckRecord record = checked(tiny_model("llama", shape, "Q6_K"));
  EXPECT_TRUE(record.runs());
  EXPECT_EQ(uses_of(record)["Q6_K"].count("int8"), 1u);
  EXPECT_THAT(record.llm->types.back().advice, HasSubstr("quantised again to 8 bits"));
}

TEST(CheckGguf, FindsWhatCannotRun) {
  const CheckRecord unknown = checked(tiny_model("phi3"));
  EXPECT_FALSE(unknown.runs());
  EXPECT_THAT(unknown.findings, ElementsAre(HasSubstr("does not support the architecture 'phi3'")));
  EXPECT_THAT(unknown.devices, IsEmpty());

  auto builder = tiny_model("llama");
  builder.find("output_norm.weight")->name = "other";
  builder.put("tokenizer.ggml.pre", test::gguf_text("falcon"));
  EXPECT_THAT(checked(builder).findings, ElementsAre(HasSubstr("'output_norm.weight' is missing"),
                                                     HasSubstr("'other'"), HasSubstr("'falcon'")));

  const test::TinyShape shape{.layers = 1, .width = 256, .ff = 256, .head_dim = 64};
  const CheckRecord foreign = checked(tiny_model("llama", shape, "IQ4_XS"));
  EXPECT_THAT(foreign.findings,
              ElementsAre(AllOf(HasSubstr("type IQ4_XS, of which it has 8"), HasSubstr("Q4_K"))));
  EXPECT_THAT(foreign.devices, IsEmpty());

  builder = tiny_model("llama");
  builder.tensors[0].type = 77;
  EXPECT_THAT(checked(builder).findings, ElementsAre(HasSubstr("the unknown type 77")));
}

TEST(CheckGguf, IsAnErrorWhereTheFileIsBroken) {
  const test::TempDir folder;
  test::put(folder / "m.gguf", tiny_model("llama").bytes().substr(0, 500));
  EXPECT_EQ(check_gguf(folder / "m.gguf", nullptr).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(check_gguf(folder / "absent.gguf", nullptr).error().code, ErrorCode::kNotFound);
}

// Files of 2 GB, all holes: what is refused is refused from the table.
TEST(CheckGguf, AllocatesNothingOfTheSizeOfWeights) {
  const test::TempDir folder;
  const auto big = [&](const std::string& arch, uint32_t type) {
    auto builder = tiny_model(arch, {.layers = 1}, "F16");
    builder.put(arch + ".embedding_length", test::gguf_u32(64));
    builder.tensor("rows", {1 << 20, 1000}, type, "");
    test::put(folder / "m.gguf", builder.bytes());
    std::filesystem::resize_file(folder / "m.gguf", int64_t{2200} << 20);
    const test::MemoryLimit limit;
    return check_gguf(folder / "m.gguf", nullptr);
  };
  EXPECT_THAT(big("phi3", 1)->findings,
              ElementsAre(HasSubstr("does not support the architecture 'phi3'")));
  EXPECT_THAT(big("llama", 77)->findings, ElementsAre(HasSubstr("the unknown type 77")));
  EXPECT_THAT(big("llama", 23)->findings, Contains(HasSubstr("the type IQ4_XS")));
  EXPECT_THAT(big("llama", 1)->findings,
              ElementsAre(HasSubstr("'rows' does not belong to the architecture llama")));
}

// High precision, memory normal, from the sums above.
constexpr int64_t kHighStart = kElements * 4 + kVectors + kStep + kCache + kAngles + 23 * kSlack;

test::Limits limits(int64_t memory, int64_t largest, const char* image_width = "16384") {
  return {std::to_string(memory), std::to_string(largest), image_width};
}

TEST(CheckGguf, MeasuresWeightsAndCacheAgainstADevicesLimits) {
  const auto builder = tiny_model("llama", {.layers = 1});
  const std::string words = "high/normal/buffer/buffer";
  const Report enough = test::report_of(test::device_with(limits(kHighStart, 49216)));
  const CheckRecord fits = checked(builder, &enough);
  EXPECT_TRUE(row_of(fits, words).runs) << row_of(fits, words).reason;
  EXPECT_EQ(memory_of(fits, words).caches.front().fits, true);
  EXPECT_EQ(to_string(*fits.devices.front().combination), "high/low/buffer/buffer");

  const Report small = test::report_of(test::device_with(limits(kHighStart - 1, 49216)));
  const CheckRecord full = checked(builder, &small);
  EXPECT_FALSE(row_of(full, words).runs);
  EXPECT_THAT(row_of(full, words).reason, HasSubstr(std::to_string(kHighStart)));
  EXPECT_EQ(memory_of(full, words).caches.front().fits, false);
  EXPECT_TRUE(row_of(full, "high/low/buffer/buffer").runs) << "at memory low it fits";
  EXPECT_THAT(full.devices.front().advice, Contains(HasSubstr("smaller weights")));

  const Report pieces = test::report_of(test::device_with(limits(1000000, 49215)));
  EXPECT_THAT(row_of(checked(builder, &pieces), words).reason,
              AllOf(HasSubstr("'0.gate_up' needs 49216"), HasSubstr("49215")));

  const Report tiny = test::report_of(test::device_with(limits(1000000, 1000)));
  const CheckRecord none = checked(builder, &tiny);
  EXPECT_FALSE(none.devices.front().combination);
  EXPECT_TRUE(none.runs()) << "the host has room";
}

TEST(CheckGguf, SaysWhichWeightsAreTooWideForImages) {
  const auto builder = tiny_model("llama", {.layers = 1});
  const std::string words = "high/normal/buffer/image";
  const Report enough = test::report_of(test::device_with(limits(1000000, 1000000, "48")));
  EXPECT_THAT(row_of(checked(builder, &enough), words).in_buffers, IsEmpty());
  const Report small = test::report_of(test::device_with(limits(1000000, 1000000, "47")));
  const CheckRecord record = checked(builder, &small);
  EXPECT_TRUE(row_of(record, words).runs);
  ASSERT_EQ(row_of(record, words).in_buffers.size(), 1u);
  EXPECT_EQ(row_of(record, words).in_buffers[0].matrix, "0.gate_up");
  EXPECT_THAT(row_of(record, words).in_buffers[0].reason, HasSubstr("largest image"));
  EXPECT_THAT(row_of(record, "high/normal/buffer/buffer").in_buffers, IsEmpty());
}

TEST(CheckGguf, TellsForEachTypeWhatTheReportSaysOfItsKernels) {
  const Report report = test::report_of(test::device_with(), [](const Variant& variant) {
    if (variant.precision == Precision::kNormal && variant.manifest->op == "rope") {
      return Verdict::kMissing;
    }
    const bool floats = variant.weight_type == WeightType::kFloat;
    return floats && variant.manifest->op == "gemm" ? Verdict::kCrash : Verdict::kPass;
  });
  const CheckRecord record = checked(tiny_model("llama"), &report);
  const auto type = [&](const char* words) {
    const auto& types = row_of(record, words).types;
    EXPECT_EQ(types.size(), 1u);
    return types.empty() ? CombinationCheck::Type{} : types.front();
  };
  EXPECT_EQ(type("high/low/buffer/buffer").type, "Q8_0");
  EXPECT_TRUE(type("high/low/buffer/buffer").opencl);
  EXPECT_TRUE(row_of(record, "high/low/buffer/buffer").runs);
  EXPECT_FALSE(type("high/normal/buffer/buffer").opencl);
  EXPECT_THAT(type("high/normal/buffer/buffer").reason,
              AllOf(HasSubstr("gemm"), HasSubstr("is crash")));
  EXPECT_THAT(type("low/low/buffer/buffer").reason, HasSubstr("is unsupported"))
      << "the device has no half arithmetic";
  EXPECT_FALSE(row_of(record, "low/low/buffer/buffer").memory);
  EXPECT_TRUE(type("normal/low/buffer/buffer").opencl);
  EXPECT_FALSE(row_of(record, "normal/low/buffer/buffer").runs);
  EXPECT_THAT(row_of(record, "normal/low/buffer/buffer").reason,
              AllOf(HasSubstr("rope"), HasSubstr("is missing")));
  EXPECT_TRUE(row_of(record, "normal/low/buffer/buffer").memory) << "known before any trial";
  EXPECT_THAT(record.devices.front().advice, ElementsAre(HasSubstr("clvet probe")));
}

TEST(CheckGguf, SaysThatAReportWasMadeWithOtherKernels) {
  Report report = test::report_of(test::device_with());
  EXPECT_THAT(checked(tiny_model("llama"), &report).notes, IsEmpty());
  report.kernel_set = "another";
  EXPECT_THAT(checked(tiny_model("llama"), &report).notes, ElementsAre(HasSubstr("other kernels")));
  EXPECT_THAT(checked(tiny_model("llama")).notes, ElementsAre(HasSubstr("no report")));
}

TEST(CheckGguf, TakesTheHostWhereNothingIsRight) {
  const Report report =
      test::report_of(test::device_with(), [](const Variant&) { return Verdict::kCrash; });
  const CheckRecord record = checked(tiny_model("llama"), &report);
  EXPECT_TRUE(record.runs());
  EXPECT_FALSE(record.devices.front().combination);
  EXPECT_THAT(record.devices.front().advice, ElementsAre(HasSubstr("runs on the host")));
}

TEST(CheckGguf, WritesWhatItFoundAsJson) {
  const Report report = test::report_of(test::device_with());
  const test::JsonFields json(check_record_to_json(checked(tiny_model("gemma3"), &report)));
  EXPECT_EQ(json.text("/schema"), "clvet.check/1");
  EXPECT_EQ(json.json("/runs"), "true");
  EXPECT_EQ(json.text("/architecture/name"), "gemma3");
  EXPECT_EQ(json.size("/types"), 2u);
  EXPECT_EQ(json.text("/devices/0/combination/memory"), "low");
  EXPECT_EQ(json.size("/devices/0/combinations"), 12u);
}

// The tied head of 49,152 rows is the largest piece: as floats 113 MB, as an image 12,288 texels.
// Images may be 12,287 wide, so 49,136 rows fit one: the rest, 16, is another.
TEST(Smollm2, HasItsHeadAsTheLargestPiece) {
  if (!std::filesystem::exists(test::smollm2_path())) {
    GTEST_SKIP() << "run 'bash ci/setup.sh --test' first";
  }
  const Report narrow = test::report_of(test::device_with(limits(8000000000, 4000000000, "12287")));
  const auto record = check_gguf(test::smollm2_path(), &narrow);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_TRUE(record->runs());
  const MemoryCheck& high = memory_of(*record, "high/normal/buffer/buffer");
  EXPECT_EQ(high.largest, "head");
  EXPECT_EQ(high.largest_bytes, int64_t{49152} * 576 * 4 + kSlack);
  const CombinationCheck& tiled = row_of(*record, "high/normal/buffer/image");
  EXPECT_THAT(tiled.in_buffers, IsEmpty());
  EXPECT_EQ(tiled.head_images, 2);
  EXPECT_EQ(tiled.memory->largest_bytes, int64_t{49136} * 576 * 4);
  EXPECT_EQ(record->llm->tokenizer->chat_template, "ChatML");
  const auto uses = uses_of(*record);
  EXPECT_EQ(uses.at("F32").at("vector"), 61);
  EXPECT_EQ(uses.at("Q4_1").at("int4"), 210);
  EXPECT_EQ(uses.at("Q8_0").at("int8"), 1);
}

}  // namespace
}  // namespace clvet
