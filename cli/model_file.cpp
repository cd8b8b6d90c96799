#include "cli/model_file.h"

#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <system_error>
#include "base/result.h"

namespace clvet {

bool is_gguf(const std::string& path) {
  if (path.ends_with(".gguf") || path.ends_with(".onnx")) return path.ends_with(".gguf");
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == "GGUF";
}

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
