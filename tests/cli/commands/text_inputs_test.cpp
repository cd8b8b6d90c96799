// Texts as inputs of a network that takes token ids.
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/llm/tokenizer_files.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kI32 = 6, kI64 = 7, kFloat = 1;

// ids as they are and, where it has one, the mask.
class RunOfAText : public testing::Test {
 protected:
  void SetUp() override {
    test::put(tokenizer_, test::vocabulary_file("bpe").bytes());
    model({1, -1}, kI64);
  }
  void model(const Shape& shape, int type, bool with_mask = false) {
    test::ModelBuilder model;
    model.input("ids", shape, type).node("Identity", {"ids"}, {"y"});
    model.output("y");
    if (with_mask) {
      model.input("attention_mask", shape, type).node("Identity", {"attention_mask"}, {"m"});
      model.output("m");
    }
    test::put(bench_ / "m.onnx", model.bytes());
  }
  test::Finished run(const std::vector<std::string>& more) { return bench_.run_model(more); }
  test::Finished run_text(const std::string& text) {
    return run({"--text", text, "--tokenizer", tokenizer_});
  }
  std::string refusal(const std::vector<std::string>& more) {
    const auto done = run(more);
    EXPECT_EQ(done.exit_code, 2) << done.out;
    EXPECT_EQ(done.out, "");
    return done.err;
  }
  std::string refusal_of_text(const std::string& text) {
    return refusal({"--text", text, "--tokenizer", tokenizer_});
  }
  test::Bench bench_;
  const std::string tokenizer_ = bench_ / "words.gguf";
};

TEST_F(RunOfAText, GivesTheIdsOfTheTokenizerInTheTypeAndShapeOfTheInput) {
  const auto done = run_text("ids=the  quick   brown");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("y i64[1,5]: 348, 223, 457, 261, 453\n"));
  model({-1}, kI32);
  EXPECT_THAT(run_text("ids=the dog").out, HasSubstr("y i32[2]: 348, 302\n"));
  model({1, 2}, kI32);
  EXPECT_THAT(run_text("ids=the dog").out, HasSubstr("y i32[1,2]: 348, 302\n"));
}

TEST_F(RunOfAText, TakesWhatFollowsTheFirstEqualsSignAsItStands) {
  EXPECT_THAT(run_text("ids= the dog").out, HasSubstr("y i64[1,2]: 262, 302\n"));
  EXPECT_EQ(run_text("ids=a=b, [c]").exit_code, 0);
  EXPECT_EQ(run_text("ids=[a,b]").exit_code, 0);
}

TEST_F(RunOfAText, FillsTheMaskOfOneTextWithOnes) {
  model({1, -1}, kI64, true);
  const auto done = run_text("ids=the  quick   brown");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("m i64[1,5]: 1, 1, 1, 1, 1\n"));
  ASSERT_TRUE(write_npy(bench_ / "mask.npy", Tensor::of<int64_t>({1, 2}, {1, 0})));
  const auto given = run({"--text", "ids=the dog", "--tokenizer", tokenizer_, "--input",
                          "attention_mask=" + bench_ / "mask.npy"});
  EXPECT_THAT(given.out, HasSubstr("m i64[1,2]: 1, 0\n")) << given.err;
}

TEST_F(RunOfAText, IsRefusedWhereTheModelTakesAnotherNumberOfTokens) {
  model({1, 128}, kI64);
  EXPECT_THAT(refusal_of_text("ids=the dog"),
              AllOf(HasSubstr("has 2 tokens, but the model takes [1,128]"), HasSubstr(".npy")));
  model({4, -1}, kI64);
  EXPECT_THAT(refusal_of_text("ids=the dog"), HasSubstr("the model takes [4,?]"));
  model({1, 1, -1}, kI64);
  EXPECT_THAT(refusal_of_text("ids=the dog"), HasSubstr("the model takes [1,1,?]"));
}

TEST_F(RunOfAText, IsRefusedForAnInputThatTakesNoIds) {
  model({1, -1}, kFloat);
  EXPECT_THAT(refusal_of_text("ids=the dog"), HasSubstr("'ids' is of f32, but token ids are i64"));
  EXPECT_THAT(refusal_of_text("x=the dog"), HasSubstr("the model has no input 'x'; it takes ids"));
  EXPECT_THAT(refusal_of_text("the dog"), HasSubstr("--text 'the dog' is not NAME=TEXT"));
  EXPECT_THAT(refusal_of_text("=the dog"), HasSubstr("is not NAME=TEXT"));
}

TEST_F(RunOfAText, IsRefusedWhereItHasNoTokens) {
  EXPECT_THAT(refusal_of_text("ids="), HasSubstr("the text for 'ids' is empty"));
  EXPECT_THAT(refusal_of_text("ids=a\xff\xfe"), HasSubstr("is not valid UTF-8"));
  EXPECT_THAT(refusal_of_text("ids=\xe4\xbd"), HasSubstr("is not valid UTF-8"));
}

TEST_F(RunOfAText, IsRefusedWithoutATokenizerOfAGgufFile) {
  EXPECT_THAT(refusal({"--text", "ids=a"}), HasSubstr("--text needs a tokenizer"));
  EXPECT_THAT(refusal({"--tokenizer", tokenizer_}), HasSubstr("--tokenizer is for texts"));
  EXPECT_THAT(refusal({"--text", "ids=a", "--tokenizer", bench_ / "none.gguf"}),
              AllOf(HasSubstr("--tokenizer"), HasSubstr("none.gguf")));
  test::put(bench_ / "tokenizer.json", "{\"model\": {\"type\": \"BPE\"}}");
  EXPECT_THAT(refusal({"--text", "ids=a", "--tokenizer", bench_ / "tokenizer.json"}),
              AllOf(HasSubstr("--tokenizer"), HasSubstr("not a GGUF file")));
  test::put(bench_ / "other.gguf", test::GgufBuilder().bytes());
  EXPECT_THAT(refusal({"--text", "ids=a", "--tokenizer", bench_ / "other.gguf"}),
              HasSubstr("tokenizer.ggml.model"));
  EXPECT_THAT(refusal({"--text", "ids=a", "--tokenizer", bench_ / "."}), HasSubstr("not a file"));
}

TEST_F(RunOfAText, IsRefusedForAnInputThatHasAValue) {
  ASSERT_TRUE(write_npy(bench_ / "ids.npy", Tensor::of<int64_t>({1, 1}, {1})));
  EXPECT_THAT(refusal({"--text", "ids=a", "--tokenizer", tokenizer_, "--input",
                       "ids=" + bench_ / "ids.npy"}),
              HasSubstr("'ids' has a value already"));
  EXPECT_THAT(refusal({"--text", "ids=a", "--text", "ids=the dog", "--tokenizer", tokenizer_}),
              HasSubstr("'ids' has a value already"));
}

// A row of the table for each id; the table ends before those of the tokenizer do.
TEST_F(RunOfAText, IsRefusedWhereTheModelHasNoRowForAToken) {
  test::ModelBuilder model;
  model.constant("table", {300, 1}, std::vector<float>(300, 1));
  model.input("ids", {1, -1}, kI64).node("Gather", {"table", "ids"}, {"y"});
  model.output("y");
  test::put(bench_ / "m.onnx", model.bytes());
  EXPECT_EQ(run_text("ids=trailing").exit_code, 2);
  EXPECT_EQ(run_text("ids=a").exit_code, 0);
}

TEST_F(RunOfAText, IsThereForBenchToo) {
  const auto done = bench_.run({"bench", bench_ / "m.onnx", "--device", "host", "--repeat", "1",
                                "--text", "ids=the dog", "--tokenizer", tokenizer_, "--json", "-"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\"seed\": null")) << "no random inputs";
}

TEST_F(RunOfAText, HasTheIdsThatAnotherProgramSaysOfSmolLM2) {
  if (!std::filesystem::exists(test::smollm2_path()))
    GTEST_SKIP() << "run 'bash ci/setup.sh --test' first";
  for (const auto& golden : test::golden_cases("smollm2-135m-q4_1.json")) {
    const auto done = run({"--text", "ids=" + golden.prompt, "--tokenizer", test::smollm2_path(),
                           "--output-dir", bench_ / "out"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const auto ids = read_npy(bench_ / "out/y.npy");
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(ids->to_i64(),
              std::vector<int64_t>(golden.prompt_ids.begin(), golden.prompt_ids.end()));
  }
}

}  // namespace
}  // namespace clvet
