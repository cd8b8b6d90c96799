// Files for inputs of bfloat16.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "tests/json_fields.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;

class RunOfBfloat16 : public testing::Test {
 protected:
  void SetUp() override {
    test::ModelBuilder model;
    model.input("x", {2}, 16).node("Neg", {"x"}, {"y"});
    model.output("y");
    test::put(bench_ / "m.onnx", model.bytes());
  }
  test::Finished run(const std::vector<std::string>& more) { return bench_.run_model(more); }
  test::Bench bench_;
};

TEST_F(RunOfBfloat16, RoundsFloat32AndWritesFloat32) {
  ASSERT_TRUE(write_npy(bench_ / "x.npy", Tensor::of<float>({2}, {3.14159f, 1 + 0x1p-8f})));
  const auto shown = run({"--input", "x=" + bench_ / "x.npy"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("y bf16[2]: -3.1406, -1\n"));
  const auto done = run({"--input", "x=" + bench_ / "x.npy", "--output-dir", bench_ / "out"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto y = read_npy(bench_ / "out/y.npy");
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(y->dtype(), DType::kF32);
  EXPECT_EQ(y->to_f64(), (std::vector<double>{-3.140625, -1}));
  EXPECT_EQ(test::JsonFields(test::get(bench_ / "out/run.json")).text("/outputs/0/dtype"), "bf16");
}

TEST_F(RunOfBfloat16, TakesTwoRawBytesForEachValue) {
  test::put(bench_ / "x.raw", std::string("\x80\x3f\x49\xc0", 4));
  const auto done = run({"--input", "x=" + bench_ / "x.raw"});
  EXPECT_THAT(done.out, HasSubstr("y bf16[2]: -1, 3.1406\n")) << done.err;
  test::put(bench_ / "x.raw", std::string(8, '\0'));
  const auto wide = run({"--input", "x=" + bench_ / "x.raw"});
  EXPECT_EQ(wide.exit_code, 2);
  EXPECT_THAT(wide.err, HasSubstr("8 bytes, but a raw bf16[2] has 4"));
}

TEST_F(RunOfBfloat16, RoundsASeriesToo) {
  ASSERT_TRUE(write_npy(bench_ / "x.npy", Tensor::of<float>({2, 2}, {1, 257, 259, -1})));
  const auto done = run({"--series", "x=" + bench_ / "x.npy"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("y bf16[2,2]: -1, -256, -260, 1\n"));
}

TEST_F(RunOfBfloat16, RefusesOtherTypesThanFloat32) {
  ASSERT_TRUE(write_npy(bench_ / "x.npy", Tensor::of<double>({2}, {1, 2})));
  const auto done = run({"--input", "x=" + bench_ / "x.npy"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("input 'x' is f64, but the model takes bf16"));
}

}  // namespace
}  // namespace clvet
