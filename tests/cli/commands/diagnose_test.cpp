// `clvet diagnose` as scripts meet it: exit codes, files, folders of inputs.
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "tests/json_fields.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// y = (x * x) * 2^-10: overflows for large x only.
std::string squares() {
  test::ModelBuilder model;
  model.input("x", {4}).constant("c", {1}, {1.f / 1024});
  model.node("Mul", {"x", "x"}, {"s"});
  model.node("Mul", {"s", "c"}, {"y"});
  return model.output("y").bytes();
}

class DiagnoseCommand : public testing::Test {
 protected:
  DiagnoseCommand() {
    std::filesystem::create_directories(inputs_);
    test::put(model_, squares());
  }
  void put_input(const std::string& name, const Tensor& value) const {
    ASSERT_TRUE(write_npy(inputs_ + "/" + name, value));
  }
  static Tensor of_size(float largest) { return Tensor::of<float>({4}, {1, -2, 3, largest}); }
  test::Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"diagnose", model_, "--policy", "naive"});
    return bench_.run(arguments);
  }
  test::Bench bench_;
  const std::string model_ = bench_ / "squares.onnx", inputs_ = bench_ / "inputs";
};

TEST_F(DiagnoseCommand, IsFineWhereHalfIsPreciseEnough) {
  put_input("a.npy", of_size(4));
  const auto done = run({"--input", inputs_ + "/a.npy"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("half is precise enough"));
}

TEST_F(DiagnoseCommand, NamesTheNodeTheValueAndTheCure) {
  put_input("a.npy", of_size(400));
  const auto done = run({"--input", "x=" + inputs_ + "/a.npy", "--json", bench_ / "d.json"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("origin: Mul"), HasSubstr("'s' reaches 1.6e+05"),
                              HasSubstr("keep 2 of 2 nodes in float32; then 1 of 1")));
  const test::JsonFields json(test::get(bench_ / "d.json"));
  EXPECT_EQ(json.text("/origins/0/fault"), "overflow");
  EXPECT_EQ(json.text("/model"), model_);
}

TEST_F(DiagnoseCommand, WritesATableOfTheNodes) {
  put_input("a.npy", of_size(400));
  const auto done = run({"--input", inputs_ + "/a.npy", "--csv", bench_ / "d.csv"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out, HasSubstr("written: " + (bench_ / "d.csv")));
  EXPECT_THAT(test::get(bench_ / "d.csv"),
              AllOf(testing::StartsWith("name,op,"), HasSubstr(",Mul,"), HasSubstr("overflow")));
}

TEST_F(DiagnoseCommand, WritesAPage) {
  put_input("a.npy", of_size(400));
  const auto done =
      run({"--input", inputs_ + "/a.npy", "--html", bench_ / "d.html", "--lang", "zh"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(test::get(bench_ / "d.html"),
              AllOf(testing::StartsWith("<!DOCTYPE html>"), HasSubstr("squares.onnx"),
                    HasSubstr("lang=\"zh\"")));
}

TEST_F(DiagnoseCommand, SaysFirstThatAFileCannotBeWritten) {
  put_input("a.npy", of_size(400));
  for (const char* option : {"--csv", "--html"}) {
    const auto done = run({"--input", inputs_ + "/a.npy", option, "/nonexistent/file"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("/nonexistent/file"));
    EXPECT_EQ(done.out, "") << "nothing was diagnosed";
  }
}

TEST_F(DiagnoseCommand, GoesOnWithoutTheFilesThatCannotBeUsed) {
  put_input("1-small.npy", of_size(4));
  put_input("2-large.npy", of_size(400));
  put_input("3-other.npy", Tensor::of<float>({5}, {1, 2, 3, 4, 5}));
  put_input("4-words.npy", Tensor::of<int64_t>({4}, {1, 2, 3, 4}));
  test::put(inputs_ + "/5-empty.npy", "");
  test::put(inputs_ + "/6-broken.npy", "\x93NUMPY");
  test::put(inputs_ + "/7-short.raw", "abc");
  test::put(inputs_ + "/.hidden", "not an input");
  const auto done = run({"--calibration", inputs_, "--json", bench_ / "d.json"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  for (const char* file : {"3-other", "4-words", "5-empty", "6-broken", "7-short"})
    EXPECT_THAT(done.err, HasSubstr(file));
  EXPECT_THAT(done.err, testing::Not(HasSubstr("hidden")));
  EXPECT_THAT(done.out, HasSubstr("with 1 of 2 inputs"));
  const test::JsonFields json(test::get(bench_ / "d.json"));
  EXPECT_EQ(json.text("/inputs/1/name"), "2-large.npy");
  EXPECT_EQ(json.json("/inputs/0/right"), "true");
}

TEST_F(DiagnoseCommand, RefusesAFolderWithoutAnInput) {
  for (const std::string& folder : {inputs_, bench_ / "nosuch"}) {
    const auto done = run({"--calibration", folder});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr(folder));
  }
  test::put(inputs_ + "/a.npy", "broken");
  const auto done = run({"--calibration", inputs_});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("no file of"), HasSubstr("a.npy")));
}

TEST_F(DiagnoseCommand, ReadsFoldersWithAFileForEachInput) {
  test::ModelBuilder model;
  model.input("x", {4}).input("z", {4});
  model.node("Mul", {"x", "z"}, {"y"});
  test::put(model_, model.output("y").bytes());
  std::filesystem::create_directories(inputs_ + "/one");
  std::filesystem::create_directories(inputs_ + "/two");
  for (const char* name : {"one/x.npy", "one/z.npy", "two/x.npy"}) put_input(name, of_size(300));
  const auto done = run({"--calibration", inputs_, "--json", bench_ / "d.json"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.err, AllOf(HasSubstr("two is left out"), HasSubstr("every input")));
  EXPECT_EQ(test::JsonFields(test::get(bench_ / "d.json")).text("/inputs/0/name"), "one");
  test::put(inputs_ + "/loose.npy", "x");
  EXPECT_THAT(run({"--calibration", inputs_}).err, HasSubstr("a folder for each set"));
}

TEST_F(DiagnoseCommand, NeedsInputs) {
  const auto done = run({});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--input"));
}

class DiagnoseLanguageCommand : public testing::Test {
 protected:
  DiagnoseLanguageCommand() {
    std::filesystem::create_directories(texts_);
    test::put(model_, test::noisy_model("llama").bytes());
  }
  test::Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "diagnose");
    return bench_.run(arguments);
  }
  test::Bench bench_;
  const std::string model_ = bench_ / "m.gguf", texts_ = bench_ / "texts";
};

TEST_F(DiagnoseLanguageCommand, TakesTextsIdsAndCasesTogether) {
  test::put(bench_ / "ids.json", "[1, 2, 3]");
  test::put(
      bench_ / "golden.json",
      R"({"cases": [{"prompt_ids": [1], "greedy_ids": [2, 3], "top1_top2_margin": [1, 1]}]})");
  const auto done =
      run({"--prompt", "bcd", model_, "--prompt", "b\nc", "--prompt-ids", bench_ / "ids.json",
           "--teacher-forced", bench_ / "golden.json", "--json", bench_ / "d.json"});
  EXPECT_EQ(done.exit_code, 2) << "the vocabulary has no line break";
  const auto right =
      run({"--prompt", "bcd", model_, "--prompt", "bb", "--prompt-ids", bench_ / "ids.json",
           "--teacher-forced", bench_ / "golden.json", "--json", bench_ / "d.json"});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out, AllOf(HasSubstr("half is precise enough"), HasSubstr("positions"),
                               HasSubstr("'hidden' up to")));
  const test::JsonFields json(test::get(bench_ / "d.json"));
  EXPECT_EQ(json.text("/inputs/0/name"), "bcd");
  EXPECT_EQ(json.text("/inputs/1/name"), "bb");
  EXPECT_EQ(json.json("/inputs/2/ranges/hidden/count"), "480") << "3 tokens, 5 times 32 values";
  EXPECT_EQ(json.text("/inputs/3/name"), "cases[0]");
  EXPECT_EQ(json.json("/inputs/3/ranges/hidden/count"), "320") << "the last token is not fed in";
}

TEST_F(DiagnoseLanguageCommand, GoesOnWithoutTheFilesThatCannotBeUsed) {
  test::put(texts_ + "/1-good.txt", "bcd\n");
  test::put(texts_ + "/2-empty.txt", "\n");
  test::put(texts_ + "/3-long.txt", std::string(5000, 'b'));
  test::put(texts_ + "/4-binary.txt", "\xff\xfe");
  std::filesystem::create_directories(texts_ + "/5-folder");
  const auto done = run({model_, "--calibration", texts_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, AllOf(HasSubstr("2-empty.txt is left out: the prompt is empty"),
                              HasSubstr("3-long.txt is left out: 5000 tokens exceed"),
                              HasSubstr("4-binary.txt"), HasSubstr("5-folder")));
  EXPECT_THAT(done.out, HasSubstr("1-good.txt"));
  std::filesystem::remove(texts_ + "/1-good.txt");
  const auto none = run({model_, "--calibration", texts_});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no file of"));
}

TEST_F(DiagnoseLanguageCommand, NeedsATextAndNothingOfANetwork) {
  EXPECT_THAT(run({model_}).err, HasSubstr("--prompt TEXT"));
  EXPECT_THAT(run({model_, "--prompt", ""}).err, HasSubstr("the prompt is empty"));
  EXPECT_THAT(run({model_, "--prompt", "b", "--input", "x=y.npy"}).err, HasSubstr("not --input"));
  EXPECT_THAT(run({model_, "--prompt-ids", bench_ / "nosuch.json"}).err, HasSubstr("nosuch.json"));
  EXPECT_EQ(run({model_, "--prompt", std::string(5000, 'b')}).exit_code, 2);
  test::put(bench_ / "m.onnx", squares());
  EXPECT_THAT(run({bench_ / "m.onnx", "--prompt", "b"}).err, HasSubstr("no prompt"));
}

// A model that wants its texts to begin with a token of their own.
TEST_F(DiagnoseLanguageCommand, LeavesOutTheFirstTokenWhereAsked) {
  test::GgufBuilder builder = test::noisy_model("llama");
  builder.put("tokenizer.ggml.add_bos_token", test::gguf_bool(true));
  builder.put("tokenizer.ggml.bos_token_id", test::gguf_u32(0));
  test::put(model_, builder.bytes());
  for (const bool bos : {true, false}) {
    std::vector<std::string> words = {model_, "--prompt", "bcd", "--json", bench_ / "d.json"};
    if (!bos) words.emplace_back("--no-bos");
    const auto done = run(words);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const test::JsonFields json(test::get(bench_ / "d.json"));
    EXPECT_EQ(json.json("/inputs/0/ranges/hidden/count"), bos ? "640" : "480");
  }
}

}  // namespace
}  // namespace clvet
