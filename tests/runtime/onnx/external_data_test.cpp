// runtime/onnx/external_data.h, as the reader uses it.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Keys = std::vector<std::pair<std::string, std::string>>;

// y = x + w; w's two floats are where `keys` say.
std::string model_with(const Keys& keys) {
  ModelBuilder model;
  model.input("x", {2}).constant("w", {2}, {0, 0});
  model.node("Add", {"x", "w"}, {"y"});
  model.output("y");
  auto& weight = *model.graph().mutable_initializer(0);
  weight.clear_float_data();
  weight.clear_raw_data();
  weight.set_data_location(1);
  for (const auto& [key, value] : keys) {
    auto& entry = *weight.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  return model.bytes();
}

constexpr float kNumbers[] = {1, 2, 3, 4};
const std::string_view kBytes(reinterpret_cast<const char*>(kNumbers), sizeof(kNumbers));

class ExternalWeights : public testing::Test {
 protected:
  // What the weight is read as, or the fault.
  std::string read(const Keys& keys) {
    test::put(folder_ / "model.onnx", model_with(keys));
    return outcome(folder_ / "model.onnx");
  }
  static std::string outcome(const std::string& path) {
    const auto graph = read_onnx(path);
    if (!graph) return graph.error().message;
    const Tensor& weight = *graph->constant(graph->find_value("w"));
    return fmt::format("{} {}", weight.data<float>()[0], weight.data<float>()[1]);
  }
  test::TempDir folder_;
};

TEST_F(ExternalWeights, AreReadFromWhereTheModelSays) {
  test::put(folder_ / "model.onnx_data", kBytes);
  EXPECT_EQ(read({{"location", "model.onnx_data"}}), "1 2");
  EXPECT_EQ(read({{"location", "model.onnx_data"}, {"offset", "8"}, {"length", "8"}}), "3 4");
  ASSERT_EQ(::mkdir((folder_ / "weights").c_str(), 0700), 0);
  test::put(folder_ / "weights/w", kBytes);
  EXPECT_EQ(read({{"location", "weights/w"}, {"offset", "4"}}), "2 3");
}

TEST_F(ExternalWeights, ArePartOfWhatTheModelIsKnownBy) {
  const auto key = [&](const std::string& weights) {
    test::put(folder_ / "w", weights);
    std::string made;
    const auto graph = read_keyed_onnx(folder_ / "model.onnx", &made);
    EXPECT_TRUE(graph) << graph.error().message;
    return made;
  };
  test::put(folder_ / "model.onnx", model_with({{"location", "w"}, {"offset", "4"}}));
  const std::string first = key("left12345678left");
  EXPECT_EQ(first.size(), 64u);
  EXPECT_NE(first, sha256_of_file(folder_ / "model.onnx").value());
  EXPECT_NE(first, key("left12345679left"));
  EXPECT_EQ(first, key("LEFT12345678 and more"));
  test::put(folder_ / "model.onnx",
            model_with({{"location", "w"}, {"offset", "4"}, {"length", "8"}}));
  EXPECT_NE(first, key("left12345678left")) << "the model's own file is part of it, too";
}

TEST_F(ExternalWeights, AreNoPartOfWhatAModelWithoutThemIsKnownBy) {
  ModelBuilder model;
  model.input("x", {2}).node("Neg", {"x"}, {"y"});
  model.output("y");
  test::put(folder_ / "model.onnx", model.bytes());
  std::string key;
  ASSERT_TRUE(read_keyed_onnx(folder_ / "model.onnx", &key));
  EXPECT_EQ(key, sha256_of_file(folder_ / "model.onnx").value());
  EXPECT_TRUE(read_keyed_onnx(folder_ / "model.onnx", nullptr));
}

TEST_F(ExternalWeights, AreNeverReadOutsideOfTheFolder) {
  test::TempDir other;
  test::put(other / "secret", kBytes);
  EXPECT_THAT(read({{"location", other / "secret"}}),
              HasSubstr("only files in the model's folder"));
  EXPECT_THAT(read({{"location", "a/../../secret"}}),
              HasSubstr("only files in the model's folder"));
  ASSERT_EQ(::symlink((other / "secret").c_str(), (folder_ / "link").c_str()), 0);
  EXPECT_THAT(read({{"location", "link"}}), HasSubstr("a link that leads out"));
}

// As model hubs keep them: links to files that lie together elsewhere.
TEST_F(ExternalWeights, MayBeALinkToBesideWhatTheModelIsALinkTo) {
  test::TempDir blobs;
  test::put(blobs / "1", model_with({{"location", "model.onnx_data"}}));
  test::put(blobs / "2", kBytes);
  ASSERT_EQ(::symlink((blobs / "1").c_str(), (folder_ / "model.onnx").c_str()), 0);
  ASSERT_EQ(::symlink((blobs / "2").c_str(), (folder_ / "model.onnx_data").c_str()), 0);
  EXPECT_EQ(outcome(folder_ / "model.onnx"), "1 2");
}

TEST_F(ExternalWeights, SayWhatIsWrongWithTheFile) {
  test::put(folder_ / "data", kBytes);
  ASSERT_EQ(::mkdir((folder_ / "folder").c_str(), 0700), 0);
  EXPECT_THAT(read({}), HasSubstr("does not name that file"));
  EXPECT_THAT(read({{"location", "none"}}),
              AllOf(HasSubstr("'w'"), HasSubstr("put that file beside")));
  EXPECT_THAT(read({{"location", "folder"}}), HasSubstr("it is no file"));
  EXPECT_THAT(read({{"location", "data"}, {"offset", "12"}}), HasSubstr("which has 16 bytes"));
  EXPECT_THAT(read({{"location", "data"}, {"offset", "9223372036854775807"}}),
              HasSubstr("which has 16 bytes"));
  EXPECT_THAT(read({{"location", "data"}, {"length", "12"}}), HasSubstr("has 12"));
  EXPECT_THAT(read({{"location", "data"}, {"offset", "-4"}}), HasSubstr("'-4', is not a number"));
}

TEST_F(ExternalWeights, AreNotThereForAModelInMemory) {
  test::put(folder_ / "data", kBytes);
  const auto graph = parse_onnx(model_with({{"location", "data"}}), "memory");
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("save the model with the data inside"));
}

}  // namespace
}  // namespace clvet
