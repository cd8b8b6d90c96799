#include "runtime/run/model_file.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"
#include "base/text.h"

namespace clvet {

namespace {

// ONNX begins with its field 1, ir_version, which is a small number.
ModelKind kind_of_bytes(std::string_view start) {
  constexpr char kIrVersion = 0x08, kGreatest = 0x20;
  if (start == "GGUF") return ModelKind::kGguf;
  const bool onnx =
      start.size() >= 2 && start[0] == kIrVersion && start[1] > 0 && start[1] <= kGreatest;
  return onnx ? ModelKind::kOnnx : ModelKind::kUnknown;
}

}  // namespace

ModelKind kind_of_model(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    char start[4] = {};
    std::ifstream file(path, std::ios::binary);
    file.read(start, sizeof start);
    const ModelKind kind = kind_of_bytes({start, static_cast<size_t>(file.gcount())});
    if (kind != ModelKind::kUnknown) return kind;
  }
  const std::string name = lower_case(path);
  if (name.ends_with(".gguf")) return ModelKind::kGguf;
  return name.ends_with(".onnx") ? ModelKind::kOnnx : ModelKind::kUnknown;
}

bool is_gguf(const std::string& path) { return kind_of_model(path) == ModelKind::kGguf; }

Status check_model_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status))
    return {};  // what is read next says what is wrong
  return fail(ErrorCode::kInvalidArgument,
              "cannot read {}: it is not a file; give the path of a model", path);
}

}  // namespace clvet
