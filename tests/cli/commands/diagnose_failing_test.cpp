// `clvet diagnose --save-failing` as scripts meet it.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/json_fields.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// y = (x * x) * 2^-10 behind an Abs: overflows for large x only. Names that no file can have.
std::string squares() {
  test::ModelBuilder model;
  model.input("x", {4}).constant("c", {1}, {1.f / 1024});
  model.node("Abs", {"x"}, {"/a/it's"}).set_name("before");
  model.node("Mul", {"/a/it's", "/a/it's"}, {"/s"}).set_name("square");
  model.node("Mul", {"/s", "c"}, {"y"}).set_name("small");
  return model.output("y").bytes();
}

class DiagnoseFailing : public testing::Test {
 protected:
  DiagnoseFailing() { test::put(model_, squares()); }
  test::Finished run(float largest, const std::string& folder) {
    EXPECT_TRUE(write_npy(bench_ / "x.npy", Tensor::of<float>({4}, {1, -2, 3, largest})));
    return bench_.run({"diagnose", model_, "--policy", "naive", "--input", bench_ / "x.npy",
                       "--json", bench_ / "d.json", "--save-failing", folder});
  }
  test::Bench bench_;
  const std::string model_ = bench_ / "squares.onnx", folder_ = bench_ / "new/folder";
};

TEST_F(DiagnoseFailing, WritesThePartWithItsInputsAndRightOutputs) {
  const auto done = run(400, folder_);
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("the failing part (nodes: 1): " + folder_ + "/failing.onnx"),
                    HasSubstr("run it with: clvet diagnose")));
  const test::JsonFields json(test::get(bench_ / "d.json"));
  EXPECT_EQ(json.text("/failing/inputs/0/name"), "/a/it's");
  const auto input = read_npy(json.text("/failing/inputs/0/file"));
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(input->values<float>()[1], 2) << "behind the Abs";
  const auto output = read_npy(json.text("/failing/outputs/0/file"));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->values<float>()[3], 160000);
  const auto again = bench_.run({"diagnose", folder_ + "/failing.onnx", "--policy", "naive",
                                 "--input", "/a/it's=" + json.text("/failing/inputs/0/file")});
  EXPECT_EQ(again.exit_code, 1) << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("origin: Mul 'square'"), HasSubstr("'/s' reaches")));
}

TEST_F(DiagnoseFailing, WritesNothingWhereNothingFails) {
  const auto done = run(4, folder_);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/failing.onnx"));
  EXPECT_FALSE(test::JsonFields(test::get(bench_ / "d.json")).has("/failing"));
}

TEST_F(DiagnoseFailing, SaysFirstThatTheFolderCannotBeWritten) {
  test::put(bench_ / "file", "x");
  const auto done = run(400, bench_ / "file");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr(bench_ / "file"));
  EXPECT_EQ(done.out, "") << "nothing was diagnosed";
}

TEST_F(DiagnoseFailing, KeepsTheDiagnosisWhereThePartCannotBeWritten) {
  std::filesystem::create_directories(folder_);
  test::put(folder_ + "/inputs", "a file in the way");
  const auto done = run(400, folder_);
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.err, HasSubstr(folder_ + "/inputs"));
  EXPECT_THAT(done.out, HasSubstr("origin: Mul 'square'"));
  EXPECT_EQ(test::JsonFields(test::get(bench_ / "d.json")).text("/origins/0/node"), "square");
}

TEST_F(DiagnoseFailing, IsRefusedForALanguageModelBeforeItIsRun) {
  test::put(bench_ / "m.gguf", test::noisy_model("llama").bytes());
  const auto done =
      bench_.run({"diagnose", bench_ / "m.gguf", "--prompt", "bcd", "--save-failing", folder_});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--save-failing is for ONNX models"));
  EXPECT_EQ(done.out, "");
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

}  // namespace
}  // namespace clvet
