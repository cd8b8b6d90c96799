// A network that stays ready: on the host, for inputs of one shape and then of another.
#include "runtime/run/network_session.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = 2 x, of any number of rows
test::ModelBuilder doubled() {
  test::ModelBuilder model;
  model.input("x", {-1, 2}).constant("k", {1}, {2});
  model.node("Mul", {"x", "k"}, {"y"});
  model.output("y");
  return model;
}

std::unique_ptr<NetworkSession> on_host(const test::ModelBuilder& model) {
  return NetworkSession::open(model.build(), nullptr, {.device = "host"}).value();
}

TEST(NetworkSession, TakesInputsOfOneShapeAfterAnother) {
  const auto session = on_host(doubled());
  for (const int64_t rows : {2, 5, 0, 2}) {
    const Tensor x = test::noise({rows, 2});
    const auto outputs = session->run({{"x", x}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    std::vector<float> wanted = test::floats(x);
    for (float& value : wanted) value *= 2;
    EXPECT_EQ(outputs->at("y").shape(), (Shape{rows, 2}));
    EXPECT_EQ(test::floats(outputs->at("y")), wanted);
  }
}

TEST(NetworkSession, PlansOnceForInputsOfOneShape) {
  const auto session = on_host(doubled());
  ASSERT_TRUE(session->run({{"x", test::noise({2, 2})}}));
  const size_t place = session->place();
  ASSERT_TRUE(session->run({{"x", test::noise({2, 2}, 7)}}));
  EXPECT_EQ(session->place(), place);
  ASSERT_TRUE(session->run({{"x", test::noise({3, 2})}}));
  EXPECT_NE(session->place(), place);
}

TEST(NetworkSession, PlansAnewWhereAnInputThatDecidesShapesHasAnotherValue) {
  test::ModelBuilder model;
  model.input("x", {6}).input("shape", {2}, 7);
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  const auto session = on_host(model);
  for (const Shape& shape : {Shape{3, 2}, Shape{6, 1}, Shape{3, 2}}) {
    const auto outputs = session->run(
        {{"x", test::noise({6})}, {"shape", Tensor::of<int64_t>({2}, {shape[0], shape[1]})}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(outputs->at("y").shape(), shape);
  }
}

TEST(NetworkSession, StaysUsableAfterInputsThatItRefuses) {
  const auto session = on_host(doubled());
  const NetworkSession::Inputs good = {{"x", test::noise({2, 2})}};
  const std::vector<NetworkSession::Inputs> bad = {
      {},
      {{"z", test::noise({2, 2})}},
      {{"x", test::noise({2, 3})}},
      {{"x", Tensor::of<int64_t>({1, 2}, {1, 2})}},
      {{"x", test::noise({2, 2})}, {"z", test::noise({1})}}};
  for (const auto& inputs : bad) {
    const auto refused = session->run(inputs);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << refused.error().message;
    EXPECT_TRUE(session->run(good));
  }
}

TEST(NetworkSession, SaysOnceWhyItRunsOnTheHost) {
  const auto session = NetworkSession::open(doubled().build(), nullptr, {}).value();
  for (const int64_t rows : {2, 2, 3}) ASSERT_TRUE(session->run({{"x", test::noise({rows, 2})}}));
  EXPECT_THAT(session->record().warnings, ElementsAre(HasSubstr("runs on the host")));
}

}  // namespace
}  // namespace clvet
