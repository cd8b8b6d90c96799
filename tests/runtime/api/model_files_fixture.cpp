#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/runtime/api/model_files.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet::test {
namespace {

constexpr int kInt64 = 7;  // TensorProto::INT64

std::string written(const std::string& folder, const std::string& name, const ModelBuilder& model) {
  const std::string file = folder + "/" + name + ".onnx";
  put(file, model.bytes());
  return file;
}

}  // namespace

std::string write_doubling(const std::string& folder) {
  ModelBuilder model;
  model.input("x", {-1, 2}).input("n", {2}, kInt64).constant("k", {1}, {2});
  model.node("Mul", {"x", "k"}, {"y"});
  model.node("Identity", {"n"}, {"m"});
  model.output("y").output("m");
  return written(folder, "doubling", model);
}

std::string write_reshaping(const std::string& folder) {
  ModelBuilder model;
  model.input("x", {6}).input("shape", {2}, kInt64);
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  return written(folder, "reshaping", model);
}

std::string write_negating(const std::string& folder) {
  constexpr int kBool = 9;  // TensorProto::BOOL
  ModelBuilder model;
  model.input("b", {-1, 2}, kBool);
  model.node("Not", {"b"}, {"y"});
  model.output("y");
  return written(folder, "negating", model);
}

std::string write_language_model(const std::string& folder) {
  const std::string file = folder + "/letters.gguf";
  put(file, noisy_model("llama").bytes());
  return file;
}

std::string write_long(const std::string& folder, int layers) {
  constexpr int64_t kWidth = 64;
  ModelBuilder model;
  model.input("x", {-1, kWidth});
  // A rotation of the columns: each product moves the values by one.
  std::vector<float> turn(kWidth * kWidth);
  for (int64_t i = 0; i < kWidth; ++i) turn[static_cast<size_t>(i * kWidth + (i + 1) % kWidth)] = 1;
  model.constant("w", {kWidth, kWidth}, turn);
  std::string at = "x";
  for (int layer = 0; layer < layers; ++layer) {
    const std::string next = layer + 1 == layers ? "y" : "t" + std::to_string(layer);
    model.node("MatMul", {at, "w"}, {next});
    at = next;
  }
  model.output("y");
  return written(folder, "long", model);
}

}  // namespace clvet::test
