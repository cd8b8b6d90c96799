#include "runtime/gguf/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "runtime/gguf/parser.h"

namespace clvet {

int64_t GgufTensor::rows() const {
  int64_t rows = 1;
  for (size_t i = 1; i < shape.size(); ++i) rows *= shape[i];
  return rows;
}

std::string describe_shape(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
  return text;
}

Result<GgufFile> GgufFile::open(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    return fail(ErrorCode::kNotFound, "cannot read {}: {}", path, std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument,
                "cannot read {}: it is not a file; give the path of a .gguf file", path);
  }
  auto mapping = Mapping::of(fd.get(), static_cast<size_t>(info.st_size), false);
  if (!mapping) return wrap(mapping.error(), path);
  CLVET_ASSIGN_OR_RETURN(GgufFile file, parse(mapping->bytes(), path));
  file.mapping_ = std::move(*mapping);
  return file;
}

Result<GgufFile> GgufFile::parse(std::span<const std::byte> bytes, const std::string& name) {
  return GgufParser(bytes, name).parse();
}

const GgufTensor* GgufFile::find(std::string_view tensor) const {
  const auto found = index_.find(tensor);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace clvet
