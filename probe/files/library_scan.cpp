#include "probe/files/library_scan.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/library_names.h"
#include "probe/files/linker_cache.h"

namespace clvet {
namespace {

constexpr size_t kLargestCache = 16 << 20;
constexpr int kDeepestFolder = 8;
constexpr size_t kMostEntries = 50000;
constexpr size_t kMostFound = 128, kMostOfOtherNames = 64;
constexpr size_t kMostLookedInto = 16384, kMostOfAFolder = 8192;

constexpr const char* kScanFolders[] = {"/usr/lib",
                                        "/usr/local",
                                        "/opt",
                                        "/lib",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/usr/lib32",
                                        "/vendor",
                                        "/system",
                                        "/odm",
                                        "/product",
                                        "/system_ext",
                                        "/apex",
                                        "/data/data/org.pocl.libs/files",
                                        "/data/data/com.termux/files/usr/lib",
                                        "/data/data/com.termux/files/usr/opt"};

// Large folders of other things.
constexpr const char* kOtherFolders[] = {"include", "__pycache__", "man",      "doc",
                                         "locale",  "modules",     "firmware", "src"};

bool has_no_libraries(const std::string& folder) {
  return std::find(std::begin(kOtherFolders), std::end(kOtherFolders), folder) !=
         std::end(kOtherFolders);
}

// What our own script set aside counts as gone.
bool is_library_name(std::string_view name) {
  return (name.ends_with(".so") || name.find(".so.") != std::string_view::npos) &&
         name.find(".clvet-") == std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(const FileSystemView& view) : view_(view) {}

  // Level by level, and each of the usual folders in turn, so that a tree too large to be walked
  // whole is known where libraries lie.
  std::vector<std::string> scan() {
    for (const char* folder : kScanFolders) {
      walks_.emplace_back();
      if (const auto real = resolve(view_, folder)) add(*real, 0, walks_.back());
    }
    for (bool more = true; more;) {
      more = false;
      for (Walk& walk : walks_) {
        if (walk.next == walk.folders.size() || entries_ > kMostEntries || is_full()) continue;
        look_into(walk);
        more = true;
      }
    }
    add_cached();
    return {found_.begin(), found_.end()};
  }

 private:
  struct Folder {
    std::string path;
    int depth = 0;
  };
  struct Walk {
    std::vector<Folder> folders;
    size_t next = 0;
  };

  bool is_full() const { return found_.size() >= kMostFound; }

  void add(const std::string& path, int depth, Walk& walk) {
    if (depth <= kDeepestFolder && known_.insert(path).second)
      walk.folders.push_back({path, depth});
  }

  void look_into(Walk& walk) {
    const Folder folder = walk.folders[walk.next++];
    looked_through_.insert(folder.path);
    size_t left = kMostOfAFolder;
    const std::vector<ListedEntry> entries = view_.list(folder.path);
    entries_ += std::min(entries.size(), kMostOfAFolder);  // a crowded one leaves room for others
    for (const ListedEntry& entry : entries) {
      const std::string path = folder.path + "/" + entry.name;
      if (entry.kind == FileEntry::Kind::kFolder) {
        if (!has_no_libraries(entry.name)) add(path, folder.depth + 1, walk);
      } else if (is_library_name(entry.name)) {
        consider(path, entry.kind, left);
      }
    }
  }

  void add_cached() {
    const auto cache = resolve(view_, "/etc/ld.so.cache");
    const auto bytes = cache ? view_.text(*cache, kLargestCache) : Result<std::string>("");
    if (!bytes) return;
    std::map<std::string, std::optional<std::string>> folders;
    size_t left = kMostOfAFolder;
    for (const std::string& path : paths_in_linker_cache(*bytes)) {
      const auto [known, is_new] = folders.try_emplace(folder_of(path));
      if (is_new) known->second = resolve(view_, known->first);
      if (known->second && !looked_through_.count(*known->second) &&
          is_library_name(file_name_of(path)))
        consider(path, FileEntry::Kind::kLink, left);
    }
  }

  // A path of kind kFile has no links in it. At most `left` of other names are looked into.
  void consider(const std::string& path, FileEntry::Kind kind, size_t& left) {
    if (is_full()) return;
    if (const LibraryName* name = library_name_of(path)) {
      const auto real = name->icd_only ? std::nullopt : resolve(view_, path);
      if (real) found_.insert(*real);
      return;
    }
    const bool plain = kind == FileEntry::Kind::kFile;
    if ((!plain && kind != FileEntry::Kind::kLink) || left == 0 || looked_into_ == kMostLookedInto)
      return;
    --left;
    ++looked_into_;
    const auto real = plain ? path : leads_elsewhere(path) ? resolve(view_, path) : std::nullopt;
    if (real && seen_.insert(*real).second) add_if_opencl(*real);
  }

  // False of a link to a library in a folder that is looked through anyway.
  bool leads_elsewhere(const std::string& path) const {
    const auto link = view_.entry(path);
    return !link || link->target.find('/') != std::string::npos || !is_library_name(link->target) ||
           !looked_through_.count(folder_of(path));
  }

  void add_if_opencl(const std::string& real) {
    const LibraryName* name = library_name_of(real);
    if ((name && name->icd_only) || of_other_names_ == kMostOfOtherNames) return;
    if (view_.holds_opencl(real) && found_.insert(real).second) ++of_other_names_;
  }

  const FileSystemView& view_;
  std::vector<Walk> walks_;
  std::set<std::string> found_, known_, looked_through_, seen_;
  size_t entries_ = 0, looked_into_ = 0, of_other_names_ = 0;
};

}  // namespace

std::vector<std::string> scan_libraries(const FileSystemView& view) { return Scanner(view).scan(); }

}  // namespace clvet
