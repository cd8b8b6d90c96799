#include "base/fd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace clvet {
namespace {

tl::unexpected<Error> sealing_fault(size_t size) {
  return fail(ErrorCode::kResourceExhausted, "cannot seal {} bytes of shared memory: {}", size,
              std::strerror(errno));
}

Result<UniqueFd> open_memfd(const char* name, size_t size) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
    return fail(
        ErrorCode::kResourceExhausted,
        "cannot create {} bytes of shared memory: {}; free memory, or raise the limit of open "
        "files (ulimit -n)",
        size, std::strerror(errno));
  }
  return fd;
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Mapping::reset() {
  if (data_) ::munmap(std::exchange(data_, nullptr), size_);
  size_ = 0;
}

Result<Mapping> Mapping::of(int fd, size_t size, bool writable) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size < 0 || static_cast<size_t>(info.st_size) < size) {
    return fail(ErrorCode::kResourceExhausted, "the memory to map is shorter than {} bytes", size);
  }
  Mapping mapping;
  if (size == 0) return mapping;
  const int access = PROT_READ | (writable ? PROT_WRITE : 0);
  void* data = ::mmap(nullptr, size, access, writable ? MAP_SHARED : MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::kResourceExhausted,
                "cannot map {} bytes: {}; free memory, or raise its limit (ulimit -v)", size,
                std::strerror(errno));
  }
  mapping.data_ = data;
  mapping.size_ = size;
  return mapping;
}

Result<Mapping> Mapping::of_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kNotFound, "cannot read {}: {}", path, std::strerror(errno));
  }
  auto mapping = of(fd.get(), static_cast<size_t>(info.st_size), false);
  if (!mapping) return wrap(mapping.error(), path);
  return mapping;
}

Result<UniqueFd> make_memfd(const char* name, size_t size) {
  CLVET_ASSIGN_OR_RETURN(UniqueFd fd, open_memfd(name, size));
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return sealing_fault(size);
  }
  return fd;
}

Result<UniqueFd> make_sealed_memfd(const char* name, std::span<const std::byte> bytes) {
  CLVET_ASSIGN_OR_RETURN(UniqueFd fd, open_memfd(name, bytes.size()));
  {
    CLVET_ASSIGN_OR_RETURN(Mapping mapping, Mapping::of(fd.get(), bytes.size(), true));
    if (!bytes.empty()) std::memcpy(mapping.bytes().data(), bytes.data(), bytes.size());
  }
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return sealing_fault(bytes.size());
  return fd;
}

}  // namespace clvet
