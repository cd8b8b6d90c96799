#include "probe/files/file_view.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/elf.h"
#include "base/elf_library.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/files/change.h"

namespace clvet {
namespace {

constexpr int kMostLinks = 40;
constexpr size_t kMostNames = 65536;

// What opencl_entry asks for.
constexpr std::string_view kEntries[] = {"clGetPlatformIDs",  "clIcdGetPlatformIDsKHR",
                                         "enableOpenCL",      "clGetExtensionFunctionAddress",
                                         "loadOpenCLPointer", "clInitLayer"};

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

// From what its folder holds of it, where the file system keeps kinds there: nothing is asked
// again.
FileEntry::Kind kind_of(const std::filesystem::directory_entry& entry) {
  std::error_code error;
  if (entry.is_symlink(error)) return FileEntry::Kind::kLink;
  if (entry.is_directory(error)) return FileEntry::Kind::kFolder;
  return entry.is_regular_file(error) ? FileEntry::Kind::kFile : FileEntry::Kind::kOther;
}

void sort_by_name(std::vector<ListedEntry>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const ListedEntry& a, const ListedEntry& b) { return a.name < b.name; });
}

class RootView : public FileSystemView {
 public:
  explicit RootView(std::string root) : root_(std::move(root)) {}

  std::optional<FileEntry> entry(const std::string& path) const override {
    struct stat info {};
    if (::lstat(host(path).c_str(), &info) != 0) return std::nullopt;
    FileEntry found;
    found.mode = info.st_mode & 07777;
    if (S_ISLNK(info.st_mode)) {
      std::error_code error;
      found.target = std::filesystem::read_symlink(host(path), error).string();
      found.kind = FileEntry::Kind::kLink;
    } else if (!S_ISREG(info.st_mode)) {
      found.kind = S_ISDIR(info.st_mode) ? FileEntry::Kind::kFolder : FileEntry::Kind::kOther;
    }
    return found;
  }

  std::vector<ListedEntry> list(const std::string& folder) const override {
    std::vector<ListedEntry> found;
    std::error_code error;
    for (std::filesystem::directory_iterator at(host(folder), error), end;
         !error && at != end && found.size() < kMostNames; at.increment(error)) {
      found.push_back({at->path().filename().string(), kind_of(*at)});
    }
    sort_by_name(found);
    return found;
  }

  Result<std::string> text(const std::string& path, size_t max_bytes) const override {
    const auto found = entry(path);  // to open a device may set it going
    if (found && found->kind == FileEntry::Kind::kOther)
      return fail(ErrorCode::kInvalidArgument, "cannot read {}: it is not a regular file", path);
    return read_file(host(path), max_bytes);
  }

  Result<ElfLibrary> library(const std::string& path) const override {
    const auto found = entry(path);
    if (found && found->kind == FileEntry::Kind::kOther)
      return fail(ErrorCode::kInvalidArgument, "{} is not a regular file", path);
    return read_elf_library(host(path), opencl_symbol);
  }

  bool holds_opencl(const std::string& path) const override {
    const auto found = entry(path);
    if (!found || found->kind != FileEntry::Kind::kFile) return false;
    const auto exports = find_exports(host(path), kEntries);
    return exports && opencl_entry({exports->begin(), exports->end()});
  }

  std::string build_id(const std::string& path) const override {
    return read_build_id(host(path)).value_or(std::string());
  }

 private:
  std::string host(const std::string& path) const { return root_ + path; }
  const std::string root_;
};

}  // namespace

std::vector<std::string> FileSystemView::names(const std::string& folder) const {
  std::vector<std::string> found;
  for (ListedEntry& entry : list(folder)) found.push_back(std::move(entry.name));
  return found;
}

bool opencl_symbol(std::string_view name) {
  if (name == "enableOpenCL" || name == "loadOpenCLPointer") return true;
  return name.size() > 2 && name.starts_with("cl") && name[2] >= 'A' && name[2] <= 'Z';
}

bool opencl_entry(const std::set<std::string>& symbols) {
  const auto has = [&](const char* name) { return symbols.count(name) > 0; };
  if (has("clInitLayer")) return false;
  return has("clGetPlatformIDs") || has("clIcdGetPlatformIDsKHR") ||
         has("clGetExtensionFunctionAddress") || (has("enableOpenCL") && has("loadOpenCLPointer"));
}

std::unique_ptr<FileSystemView> view_of(const std::string& root) {
  std::string folder = root;
  while (!folder.empty() && folder.back() == '/') folder.pop_back();
  return std::make_unique<RootView>(std::move(folder));
}

std::optional<std::string> resolve(const FileSystemView& view, const std::string& path) {
  std::vector<std::string> ahead = split(path, '/');
  std::reverse(ahead.begin(), ahead.end());
  std::string here;  // resolved; "" is the root
  int links = 0;
  while (!ahead.empty()) {
    const std::string part = std::move(ahead.back());
    ahead.pop_back();
    if (part == "..") here = here.substr(0, here.empty() ? 0 : here.rfind('/'));
    if (part.empty() || part == "." || part == "..") continue;
    const auto entry = view.entry(here + "/" + part);
    if (!entry || here.size() > 4096) return std::nullopt;
    if (entry->kind != FileEntry::Kind::kLink) {
      if (!ahead.empty() && entry->kind != FileEntry::Kind::kFolder) return std::nullopt;
      here += "/" + part;
      continue;
    }
    if (++links > kMostLinks || entry->target.empty()) return std::nullopt;
    std::vector<std::string> more = split(entry->target, '/');
    ahead.insert(ahead.end(), more.rbegin(), more.rend());
    if (entry->target.front() == '/') here.clear();
  }
  return here.empty() ? "/" : here;
}

bool exists(const FileSystemView& view, const std::string& path) {
  return resolve(view, path).has_value();
}

ChangedView::ChangedView(const FileSystemView& base, const std::vector<Change>& changes)
    : base_(base), changes_(changes) {}

const Change* ChangedView::made(const std::string& path) const {
  for (const Change& row : changes_) {
    if (row.path == path && (row.kind == Change::Kind::kLink || row.kind == Change::Kind::kFile))
      return &row;
  }
  return nullptr;
}

bool ChangedView::moved_away(const std::string& path) const {
  return std::any_of(changes_.begin(), changes_.end(), [&](const Change& row) {
    return row.kind == Change::Kind::kMove && row.path == path;
  });
}

std::optional<FileEntry> ChangedView::entry(const std::string& path) const {
  if (const Change* row = made(path)) {
    if (row->kind == Change::Kind::kLink)
      return FileEntry{FileEntry::Kind::kLink, 0777, row->value};
    return FileEntry{FileEntry::Kind::kFile, 0644, {}};
  }
  if (moved_away(path)) return std::nullopt;
  if (auto found = base_.entry(path)) return found;
  for (const Change& row : changes_) {  // a folder that would be made on the way
    const bool adds = row.kind == Change::Kind::kLink || row.kind == Change::Kind::kFile;
    if (adds && row.path.starts_with(path + "/"))
      return FileEntry{FileEntry::Kind::kFolder, 0755, {}};
  }
  return std::nullopt;
}

std::vector<ListedEntry> ChangedView::list(const std::string& folder) const {
  std::vector<ListedEntry> found = base_.list(folder);
  for (const Change& row : changes_) {
    if (row.kind == Change::Kind::kVariable || parent_of(row.path) != folder) continue;
    const std::string name = file_name_of(row.path);
    std::erase_if(found, [&](const ListedEntry& entry) { return entry.name == name; });
    if (const auto now = entry(row.path)) found.push_back({name, now->kind});
  }
  sort_by_name(found);
  return found;
}

Result<std::string> ChangedView::text(const std::string& path, size_t max_bytes) const {
  if (const Change* row = made(path)) return row->value;
  return base_.text(path, max_bytes);
}

Result<ElfLibrary> ChangedView::library(const std::string& path) const {
  if (made(path)) return fail(ErrorCode::kInvalidArgument, "not an ELF file");
  return base_.library(path);
}

}  // namespace clvet
