#include "runtime/onnx/external_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

Result<int64_t> count_of(const std::string& key, const std::string& text) {
  if (const auto count = whole_number(text); count && *count >= 0) return *count;
  return fail(ErrorCode::kInvalidArgument, "its {} in another file, '{}', is not a number", key,
              one_line(text, 60));
}

Result<Place> place_of(const onnx::TensorProto& proto) {
  Place place;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") {
      CLVET_ASSIGN_OR_RETURN(place.offset, count_of("offset", entry.value()));
    }
    if (entry.key() == "length") {
      CLVET_ASSIGN_OR_RETURN(place.length, count_of("length", entry.value()));
    }
  }
  if (place.location.empty())
    return fail(ErrorCode::kInvalidArgument,
                "its data is in another file, but the model does not name that file");
  return place;
}

bool leads_out(const fs::path& location) {
  return location.is_absolute() ||
         std::find(location.begin(), location.end(), "..") != location.end();
}

bool is_within(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

Status read_all(int fd, int64_t offset, std::byte* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, to, bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return fail(ErrorCode::kInvalidArgument, "it cannot be read: {}",
                  got < 0 ? std::strerror(errno) : "it became shorter");
    to += got;
    offset += got;
    bytes -= static_cast<size_t>(got);
  }
  return {};
}

}  // namespace

ExternalData::ExternalData(const std::string& model) {
  std::error_code error;
  const fs::path path = fs::path(model);
  folder_ = path.has_parent_path() ? path.parent_path().string() : ".";
  for (const fs::path& folder : {fs::path(folder_), fs::canonical(path, error).parent_path()}) {
    const fs::path whole = fs::canonical(folder, error);
    if (!error) folders_.push_back(whole.string());
  }
}

Result<const ExternalData::File*> ExternalData::open(const std::string& location) {
  if (const auto found = files_.find(location); found != files_.end()) return &found->second;
  const std::string shown = one_line(location, 200);
  if (leads_out(location))
    return fail(ErrorCode::kInvalidArgument,
                "its data is said to be in '{}': clvet reads only files in the model's folder",
                shown);
  const std::string path = (fs::path(folder_) / location).string();
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  if (error)
    return fail(ErrorCode::kInvalidArgument,
                "its data is in '{}', which is not there; put that file beside the model", shown);
  if (std::none_of(folders_.begin(), folders_.end(),
                   [&](const std::string& folder) { return is_within(whole, folder); }))
    return fail(ErrorCode::kInvalidArgument,
                "its data is in '{}', a link that leads out of the model's folder; put the file "
                "itself beside the model",
                shown);
  File file;
  file.fd = UniqueFd(::open(whole.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file.fd.valid() || ::fstat(file.fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorCode::kInvalidArgument,
                "its data is in '{}', which cannot be read: it is no file, or may not be opened",
                shown);
  file.bytes = status.st_size;
  return &files_.emplace(location, std::move(file)).first->second;
}

Status ExternalData::read(const onnx::TensorProto& proto, Tensor& tensor) {
  if (folders_.empty())
    return fail(ErrorCode::kUnsupported,
                "its data is in another file; save the model with the data inside");
  CLVET_ASSIGN_OR_RETURN(const Place place, place_of(proto));
  CLVET_ASSIGN_OR_RETURN(const File* file, open(place.location));
  const std::string shown = one_line(place.location, 200);
  const int64_t bytes = tensor.elements() * static_cast<int64_t>(size_of(tensor.dtype()));
  if (place.length && *place.length != bytes)
    return fail(ErrorCode::kInvalidArgument,
                "its dims {} say {} bytes, but its data in '{}' has {}", to_string(tensor.shape()),
                bytes, shown, *place.length);
  if (place.offset > file->bytes || bytes > file->bytes - place.offset)
    return fail(
        ErrorCode::kInvalidArgument,
        "its data is {} bytes from byte {} of '{}', which has {} bytes; fetch that file again",
        bytes, place.offset, shown, file->bytes);
  auto status = read_all(file->fd.get(), place.offset, tensor.raw(), static_cast<size_t>(bytes));
  if (!status) return wrap(status.error(), shown);
  if (hash_) hash_->add(std::span(tensor.raw(), static_cast<size_t>(bytes)));
  return {};
}

}  // namespace clvet
