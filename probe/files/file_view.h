// A machine's files as a lookup sees them: this machine's, those below a folder (a mounted image, a
// copied tree), or either with changes that nobody has made yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/elf_library.h"
#include "base/result.h"
#include "probe/files/change.h"

namespace clvet {

struct FileEntry {
  enum class Kind { kFile, kFolder, kLink, kOther };
  Kind kind = Kind::kFile;
  uint32_t mode = 0;   // permission bits
  std::string target;  // of a link, as written
};

struct ListedEntry {
  std::string name;
  FileEntry::Kind kind = FileEntry::Kind::kFile;
};

// Paths are absolute within the view. All but resolve's callers give paths without links in them.
class FileSystemView {
 public:
  virtual ~FileSystemView() = default;
  virtual std::optional<FileEntry> entry(const std::string& path) const = 0;
  // What is in a folder, sorted by name; empty where it is none. At most 65536.
  virtual std::vector<ListedEntry> list(const std::string& folder) const = 0;
  std::vector<std::string> names(const std::string& folder) const;
  virtual Result<std::string> text(const std::string& path, size_t max_bytes) const = 0;
  // OpenCL's symbols among the exports (opencl_symbol).
  virtual Result<ElfLibrary> library(const std::string& path) const = 0;
  // True of a library that itself exports OpenCL (opencl_entry), whatever it needs or imports; told
  // from a few of its bytes.
  virtual bool holds_opencl(const std::string& path) const = 0;
  // Of a library, as hex digits; empty where it has none.
  virtual std::string build_id(const std::string& /*path*/) const { return {}; }
};

// The files below `root`; "" or "/": this machine's. Nothing outside it is ever read.
std::unique_ptr<FileSystemView> view_of(const std::string& root);

// `path` with every link followed inside the view; nullopt where it leads nowhere or in circles.
std::optional<std::string> resolve(const FileSystemView& view, const std::string& path);
// True for a file or folder that is there.
bool exists(const FileSystemView& view, const std::string& path);

// clGetPlatformIDs and its like, and the pair that opens Google's library.
bool opencl_symbol(std::string_view name);
// True of exports by which programs or loaders enter OpenCL, and not of those of a layer.
bool opencl_entry(const std::set<std::string>& symbols);

// `base` as it would be with the changes made; variables are the linker's, not the files'.
class ChangedView : public FileSystemView {
 public:
  ChangedView(const FileSystemView& base, const std::vector<Change>& changes);
  std::optional<FileEntry> entry(const std::string& path) const override;
  std::vector<ListedEntry> list(const std::string& folder) const override;
  Result<std::string> text(const std::string& path, size_t max_bytes) const override;
  Result<ElfLibrary> library(const std::string& path) const override;
  bool holds_opencl(const std::string& path) const override {
    return !made(path) && base_.holds_opencl(path);
  }
  std::string build_id(const std::string& path) const override { return base_.build_id(path); }

 private:
  const Change* made(const std::string& path) const;
  bool moved_away(const std::string& path) const;
  const FileSystemView& base_;
  std::vector<Change> changes_;
};

}  // namespace clvet
