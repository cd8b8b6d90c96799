// Owners of file descriptors and of shared memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace clvet {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { reset(); }
  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// A shared mapping of a descriptor; unmapped at the end of its life.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping() { reset(); }
  // Maps `size` bytes from the start of `fd`; kResourceExhausted where the file is shorter than
  // `size` (a mapped page beyond its end would raise SIGBUS) or the kernel refuses.
  static Result<Mapping> of(int fd, size_t size, bool writable);
  // The whole of a regular file, to be read; the message names it.
  static Result<Mapping> of_file(const std::string& path);
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), size_}; }
  bool valid() const { return data_ != nullptr; }
  void reset();

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// A memfd of `size` zero bytes whose size is sealed: neither side can shrink it under the other.
Result<UniqueFd> make_memfd(const char* name, size_t size);
// A memfd that holds `bytes`, sealed against every change.
Result<UniqueFd> make_sealed_memfd(const char* name, std::span<const std::byte> bytes);

}  // namespace clvet
