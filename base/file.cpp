#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "base/fd.h"
#include "base/result.h"

namespace clvet {
namespace {

std::string xdg_dir(const char* own, const char* xdg, const char* below_home,
                    const char* without_home) {
  // A driver may change the working folder.
  std::error_code error;
  if (const char* path = std::getenv(own); path && *path)
    return std::filesystem::absolute(path, error).string();
  if (const char* path = std::getenv(xdg); path && *path == '/')
    return std::string(path) + "/clvet";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + below_home + "/clvet";
  return fmt::format("/tmp/clvet-{}{}", ::geteuid(), without_home);
}

bool is_ours(uid_t owner) { return owner == ::geteuid() || owner == 0; }

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

tl::unexpected<Error> write_fault(const std::string& path, int error) {
  return fail(ErrorCode::kInvalidArgument, "cannot write {}: {}; name a writable path", path,
              std::strerror(error));
}

// A write beyond the limit of a file's size raises a signal that ends the process: in here it does
// not, and the write gives its error.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSizeSignal() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t signal_{}, before_{};
  bool was_pending_ = false;
};

Status write_all(int fd, const std::string& path, std::span<const std::byte> bytes) {
  const NoSizeSignal no_signal;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return write_fault(path, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

// What a path names once links are followed.
struct Target {
  std::string path;
  bool folder = false;
  bool special = false;  // a device, pipe or socket: nothing to be replaced
};

Target target_of(const std::string& path) {
  Target target{path};
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return target;
  target.folder = S_ISDIR(info.st_mode);
  target.special = !target.folder && !S_ISREG(info.st_mode);
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (!error) target.path = real.string();
  return target;
}

Status write_in_place(const std::string& path, std::span<const std::byte> bytes) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return write_fault(path, errno);
  return write_all(fd.get(), path, bytes);
}

Status check_readable(const UniqueFd& fd, const std::string& path, size_t max_bytes) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "cannot read {}: it is a folder, not a file", path);
  }
  if (S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) > max_bytes) {
    return fail(ErrorCode::kInvalidArgument,
                "{} is too large: it has {} bytes, and clvet reads at most {}", path, info.st_size,
                max_bytes);
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      return fail(ErrorCode::kResourceExhausted,
                  "cannot read {}: {}; allow more open files (ulimit -n)", path,
                  std::strerror(errno));
    }
    return fail(ErrorCode::kNotFound, "cannot read {}: {}", path, std::strerror(errno));
  }
  CLVET_RETURN_IF_ERROR(check_readable(fd, path, max_bytes));
  std::string text;
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0 && info.st_size > 0)
    text.reserve(std::min(static_cast<size_t>(info.st_size), max_bytes));
  char chunk[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::kInvalidArgument, "cannot read {}: {}", path, std::strerror(errno));
    }
    if (got == 0) return text;
    if (text.size() + static_cast<size_t>(got) > max_bytes) {
      return fail(ErrorCode::kInvalidArgument, "{} is too large: clvet reads at most {} bytes",
                  path, max_bytes);
    }
    text.append(chunk, static_cast<size_t>(got));
  }
}

Status check_writable(const std::string& path) {
  const Target target = target_of(path);
  if (target.folder) return write_fault(path, EISDIR);
  if (target.special) {
    if (::access(path.c_str(), W_OK) != 0) return write_fault(path, errno);
    return {};
  }
  std::string temporary = target.path + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return write_fault(path, errno);
  ::unlink(temporary.c_str());
  return {};
}

Status write_file_atomically(const std::string& name, std::span<const std::byte> bytes, Sync sync,
                             Readers readers) {
  const Target target = target_of(name);
  if (target.folder) return write_fault(name, EISDIR);
  if (target.special) return write_in_place(name, bytes);
  const std::string& path = target.path;
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return write_fault(name, errno);
  Status written = write_all(fd.get(), name, bytes);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool now = sync == Sync::kNow;
  const mode_t mode = readers == Readers::kAll ? 0644 : 0600;
  if (written && (::fchmod(fd.get(), mode & ~mask) != 0 || (now && ::fsync(fd.get()) != 0))) {
    written = write_fault(name, errno);
  }
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = write_fault(name, errno);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (!now) return {};
  UniqueFd folder(::open(parent_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) ::fsync(folder.get());
  return {};
}

Status write_file_atomically(const std::string& path, std::string_view text, Sync sync,
                             Readers readers) {
  return write_file_atomically(path, std::as_bytes(std::span(text.data(), text.size())), sync,
                               readers);
}

Status make_folders(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  const mode_t mask = ::umask(0077);
  std::filesystem::create_directories(path, error);
  ::umask(mask);
  if (error) {
    return fail(ErrorCode::kInvalidArgument, "cannot create the folder {}: {}", path,
                error.message());
  }
  return {};
}

Status check_private(const std::string& path) {
  struct stat link {
  }, info{};
  if (::lstat(path.c_str(), &link) != 0 || ::stat(path.c_str(), &info) != 0) return {};
  if (!is_ours(link.st_uid) || !is_ours(info.st_uid)) {
    return fail(ErrorCode::kInvalidArgument,
                "{} belongs to another user (id {}); set CLVET_STATE_DIR to a folder of your own",
                path, is_ours(link.st_uid) ? info.st_uid : link.st_uid);
  }
  constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
  if ((info.st_mode & kOthersMayWrite) == 0) return {};
  return fail(ErrorCode::kInvalidArgument,
              "other users may write to {}; run 'chmod go-w' on it, or set CLVET_STATE_DIR to a "
              "folder of your own",
              path);
}

Status make_private_folder(const std::string& path) {
  CLVET_RETURN_IF_ERROR(make_folders(path));
  return check_private(path);
}

std::string state_dir() {
  return xdg_dir("CLVET_STATE_DIR", "XDG_STATE_HOME", "/.local/state", "");
}
std::string cache_dir() {
  return xdg_dir("CLVET_CACHE_DIR", "XDG_CACHE_HOME", "/.cache", "-cache");
}

}  // namespace clvet
