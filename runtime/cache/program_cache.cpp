#include "runtime/cache/program_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/row_file.h"
#include "runtime/cache/binary_file.h"

namespace clvet {
namespace {

constexpr std::string_view kSuffix = ".bin";
constexpr size_t kDefaultMib = 256;
constexpr size_t kMostDistrusted = 500;
constexpr double kHour = 3600;
constexpr size_t kNameDigits = 32;

RowFile distrust_file(const std::string& folder) {
  return {folder + "/distrusted.json", "clvet.distrusted-programs/1", kMostDistrusted};
}

struct Listed {
  std::string path;
  size_t bytes = 0;
  double used = 0;
};

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The files whose names end like that; also those of writers that died, which have six letters
// more.
std::vector<Listed> files_of(const std::string& folder, bool unfinished) {
  std::vector<Listed> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    const bool is_temporary = path.find(std::string(kSuffix) + ".") != std::string::npos;
    struct stat info {};
    if (unfinished ? !is_temporary : !path.ends_with(kSuffix)) continue;
    if (::lstat(path.c_str(), &info) != 0) continue;
    found.push_back({path, static_cast<size_t>(info.st_size), seconds_of(info.st_mtim)});
  }
  return found;
}

void trim(const std::string& folder, size_t limit) {
  for (const Listed& left : files_of(folder, true)) {
    if (seconds_of_today() - left.used > kHour) ::unlink(left.path.c_str());
  }
  std::vector<Listed> files = files_of(folder, false);
  size_t sum = 0;
  for (const Listed& file : files) sum += file.bytes;
  std::ranges::sort(files, {}, &Listed::used);
  for (const Listed& oldest : files) {
    if (sum <= limit) return;
    ::unlink(oldest.path.c_str());
    sum -= oldest.bytes;
  }
}

// A file of this user, to which nobody else may write, and no link. kNotFound: there is none.
Result<std::string> read_private(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid() && errno == ENOENT) return fail(ErrorCode::kNotFound, "there is no {}", path);
  if (!fd.valid() && errno == ELOOP) return fail(ErrorCode::kInvalidArgument, "it is a link");
  if (!fd.valid()) return fail(ErrorCode::kInvalidArgument, "{}", std::strerror(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::kInvalidArgument, "it is no plain file");
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return fail(ErrorCode::kInvalidArgument, "it belongs to another user (id {})", info.st_uid);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(ErrorCode::kInvalidArgument, "other users may write to it");
  const auto size = static_cast<size_t>(info.st_size);
  if (size > kMaxBinaryFileBytes) return fail(ErrorCode::kInvalidArgument, "it has {} bytes", size);
  std::string text(size, '\0');
  size_t got = 0;
  while (got < size) {
    const ssize_t more = ::read(fd.get(), text.data() + got, size - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  text.resize(got);
  // What was used within the hour counts alike.
  if (seconds_of_today() - seconds_of(info.st_mtim) > kHour) ::futimens(fd.get(), nullptr);
  return text;
}

std::string name_of(const std::string& environment_key, const std::string& program_key) {
  const std::string hash = Sha256().add_field(environment_key).add_field(program_key).hex();
  return hash.substr(0, kNameDigits) + std::string(kSuffix);
}

// What is wrong with a file that holds `label`, by its name.
std::string fault_of_name(const std::string& file, const BinaryLabel& label) {
  return file == name_of(label.environment_key, label.program_key)
             ? ""
             : "it is of another program than its name says";
}

// In the place of what lies there, a link too.
Status put_file(const std::string& folder, const BinaryLabel& label, std::string_view text) {
  const std::string path = folder + "/" + name_of(label.environment_key, label.program_key);
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) ::unlink(path.c_str());
  return write_file_atomically(path, text, Sync::kLater, Readers::kUser);
}

std::string row_of(const std::string& environment_key, const std::string& program_key) {
  return environment_key + " " + program_key;
}

}  // namespace

size_t program_cache_limit() {
  size_t mib = kDefaultMib;
  if (const char* text = std::getenv("CLVET_PROGRAM_CACHE_MIB"); text && *text) {
    const char* end = text + std::strlen(text);
    size_t given = 0;
    if (const auto [rest, error] = std::from_chars(text, end, given);
        error == std::errc() && rest == end)
      mib = std::min(given, size_t{1} << 20);
  }
  return mib << 20;
}

std::string program_cache_folder(const std::string& state_dir) {
  return state_dir.empty() ? "" : state_dir + "/programs";
}

ProgramCache::ProgramCache(std::string folder, std::string environment_key, std::string device)
    : folder_(std::move(folder)),
      environment_key_(std::move(environment_key)),
      device_(std::move(device)) {
  on_ = !folder_.empty() && !environment_key_.empty() && program_cache_limit() > 0;
  if (!on_) return;
  const std::string above = std::filesystem::path(folder_).parent_path().string();
  for (const std::string& place : {above, folder_}) {
    if (const Status fine = check_private(place); !fine) {
      turn_off(fine.error());
      return;
    }
  }
  read_distrusted();
  if (is_distrusted(kAllPrograms)) on_ = false;
}

// Each reason is said by one start.
void ProgramCache::read_distrusted() {
  bool unsaid = false;
  for (const auto& [name, row] : distrust_file(folder_).read()) {
    if (row_text(row, "environment_key") != environment_key_) continue;
    distrusted_.push_back(
        {environment_key_, row_text(row, "program_key"), row_text(row, "reason")});
    if (row.value("said", nlohmann::json()) == true) continue;
    unsaid = true;
    notes_.push_back(distrusted_.back().reason);
  }
  if (!unsaid) return;
  (void)distrust_file(folder_).change([&](RowFile::Rows& rows) {
    for (auto& [name, row] : rows) {
      if (row_text(row, "environment_key") == environment_key_) row["said"] = true;
    }
  });
}

std::vector<std::string> ProgramCache::take_notes() { return std::exchange(notes_, {}); }

void ProgramCache::turn_off(const Error& error) {
  on_ = false;
  notes_.push_back(fmt::format("program binaries are not kept: {}", error.message));
}

std::string ProgramCache::path_of(const std::string& program_key) const {
  return folder_ + "/" + name_of(environment_key_, program_key);
}

bool ProgramCache::is_distrusted(const std::string& program_key) const {
  return std::ranges::find(distrusted_, program_key, &DistrustedProgram::program_key) !=
         distrusted_.end();
}

std::optional<ProgramCache::Found> ProgramCache::find(const std::string& program_key) {
  if (!on_ || is_distrusted(program_key)) return std::nullopt;
  const std::string path = path_of(program_key);
  Result<std::string> text = read_private(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  Found found;
  std::string fault = text ? "" : text.error().message;
  if (text) {
    found.text = std::move(*text);
    auto file = parse_binary_file(found.text);
    if (!file) {
      fault = file.error().message;
    } else if (file->label.environment_key != environment_key_ ||
               file->label.program_key != program_key) {
      fault = "it is of another program than its name says";
    } else {
      found.file = std::move(*file);
    }
  }
  if (fault.empty()) return found;
  ::unlink(path.c_str());
  notes_.push_back(
      fmt::format("the saved program {} was not used and is removed: {}", path, fault));
  return std::nullopt;
}

void ProgramCache::keep(const std::string& program_key, const std::string& kernel,
                        std::span<const std::byte> binary) {
  if (!on_ || is_distrusted(program_key) || binary.empty() || binary.size() > kMaxBinaryBytes)
    return;
  Status kept = make_private_folder(folder_);
  if (kept) {
    const BinaryLabel label{environment_key_, program_key, device_, kernel};
    kept = put_file(folder_, label, binary_file_text(label, binary));
  }
  if (!kept) return turn_off(kept.error());
  trim(folder_, program_cache_limit());
}

void ProgramCache::refuse(const std::string& program_key, const std::string& kernel,
                          const std::string& why) {
  ::unlink(path_of(program_key).c_str());
  notes_.push_back(fmt::format(
      "the driver does not take the saved program of {} any more, and it is compiled again: {}",
      kernel, why));
}

void ProgramCache::distrust(const std::string& program_key, const std::string& reason, bool say) {
  if (folder_.empty() || environment_key_.empty()) return;
  if (say) notes_.push_back(reason);
  distrusted_.push_back({environment_key_, program_key, reason});
  if (program_key == kAllPrograms) {
    on_ = false;
    const auto listed = list_programs(folder_);
    for (const CachedProgram& one : listed.value_or(std::vector<CachedProgram>())) {
      if (one.label.environment_key == environment_key_)
        ::unlink((folder_ + "/" + one.file).c_str());
    }
  } else {
    ::unlink(path_of(program_key).c_str());
  }
  (void)distrust_file(folder_).change([&](RowFile::Rows& rows) {
    rows[row_of(environment_key_, program_key)] = {{"environment_key", environment_key_},
                                                   {"program_key", program_key},
                                                   {"reason", reason},
                                                   {"said", say},
                                                   {"at", seconds_of_today()}};
  });
}

Result<std::vector<CachedProgram>> list_programs(const std::string& folder) {
  CLVET_RETURN_IF_ERROR(check_private(folder));
  std::vector<CachedProgram> found;
  for (const Listed& listed : files_of(folder, false)) {
    CachedProgram one{.file = std::filesystem::path(listed.path).filename().string(),
                      .bytes = listed.bytes,
                      .used = listed.used};
    const auto text = read_private(listed.path);
    auto file = text ? parse_binary_file(*text) : tl::unexpected(text.error());
    if (file) one.label = file->label;
    one.fault = file ? fault_of_name(one.file, one.label) : file.error().message;
    found.push_back(std::move(one));
  }
  std::ranges::sort(found, {}, &CachedProgram::file);
  return found;
}

std::vector<DistrustedProgram> distrusted_programs(const std::string& folder) {
  std::vector<DistrustedProgram> found;
  for (const auto& [name, row] : distrust_file(folder).read()) {
    found.push_back(
        {row_text(row, "environment_key"), row_text(row, "program_key"), row_text(row, "reason")});
  }
  return found;
}

Result<std::string> read_program(const std::string& folder, const std::string& file) {
  CLVET_RETURN_IF_ERROR(check_private(folder));
  CLVET_ASSIGN_OR_RETURN(std::string text, read_private(folder + "/" + file));
  CLVET_ASSIGN_OR_RETURN(const BinaryFile binary, parse_binary_file(text));
  if (const std::string fault = fault_of_name(file, binary.label); !fault.empty())
    return fail(ErrorCode::kInvalidArgument, "{}: {}", file, fault);
  return text;
}

Status add_program(const std::string& folder, std::string_view text) {
  CLVET_ASSIGN_OR_RETURN(const BinaryFile file, parse_binary_file(text));
  CLVET_RETURN_IF_ERROR(make_private_folder(folder));
  for (const DistrustedProgram& row : distrusted_programs(folder)) {
    const bool same = row.program_key == kAllPrograms || row.program_key == file.label.program_key;
    if (same && row.environment_key == file.label.environment_key)
      return fail(ErrorCode::kUnsupported, "{}", row.reason);
  }
  CLVET_RETURN_IF_ERROR(put_file(folder, file.label, text));
  trim(folder, program_cache_limit());
  return {};
}

Result<size_t> clear_programs(const std::string& folder) {
  CLVET_RETURN_IF_ERROR(check_private(folder));
  size_t removed = 0;
  for (const Listed& file : files_of(folder, false)) {
    if (::unlink(file.path.c_str()) != 0 && errno != ENOENT)
      return fail(ErrorCode::kInvalidArgument, "cannot remove {}: {}", file.path,
                  std::strerror(errno));
    ++removed;
  }
  for (const Listed& file : files_of(folder, true)) ::unlink(file.path.c_str());
  ::unlink((folder + "/distrusted.json").c_str());
  return removed;
}

}  // namespace clvet
