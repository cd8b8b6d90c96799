// `clvet diagnose` of models that float32 does not hold either.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/json_fields.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DiagnoseFloatFault : public testing::Test {
 protected:
  test::Finished run(test::ModelBuilder& model, float value) {
    test::put(bench_ / "m.onnx", model.output("y").bytes());
    EXPECT_TRUE(write_npy(bench_ / "x.npy", Tensor::of<float>({2}, {1, value})));
    return bench_.run({"diagnose", bench_ / "m.onnx", "--policy", "naive", "--input",
                       bench_ / "x.npy", "--json", bench_ / "d.json"});
  }
  test::Bench bench_;
};

TEST_F(DiagnoseFloatFault, NamesTheNodeThatMakesNaNAndIsNoSuccess) {
  test::ModelBuilder model;
  model.input("x", {2}).node("Sqrt", {"x"}, {"s"}).set_name("root");
  model.node("Neg", {"s"}, {"y"});
  const auto done = run(model, -4);
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("WRONG in float32, too"),
                              HasSubstr("wrong at any precision: Sqrt 'root' gives NaN"),
                              Not(HasSubstr("precise enough"))));
  EXPECT_EQ(test::JsonFields(test::get(bench_ / "d.json")).text("/float_fault/node"), "root");
}

TEST_F(DiagnoseFloatFault, NamesTheNodeThatExceedsFloat32) {
  test::ModelBuilder model;
  model.input("x", {2}).constant("c", {1}, {1e-35f});
  model.node("Mul", {"x", "x"}, {"s"}).set_name("square");
  model.node("Mul", {"s", "c"}, {"y"});
  const auto done = run(model, 1e20f);
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out, HasSubstr("float32 does not hold it either: Mul 'square' gives NaN or "
                                  "infinite values, in float64 it does not"));
  EXPECT_EQ(test::JsonFields(test::get(bench_ / "d.json")).json("/inputs/0/in_float32"), "false");
}

}  // namespace
}  // namespace clvet
