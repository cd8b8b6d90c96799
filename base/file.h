// Files: bounded reading, atomic replacing, and the folders clvet keeps its state in.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clvet {

// The whole file. kNotFound where it cannot be opened, kInvalidArgument where it is a folder or
// larger than `max_bytes`; the message names the file and the fault.
Result<std::string> read_file(const std::string& path, size_t max_bytes = size_t{1} << 31);

// Whether a file is on the disk before the call returns, or when the system sees fit.
enum class Sync { kNow, kLater };
// Who may read a new file: all that the umask lets, or its user alone.
enum class Readers { kAll, kUser };

// Replaces `path` as a whole or leaves it untouched: temporary file beside it, fsync, rename, fsync
// of the folder. A link stays and its target is replaced; a device or pipe is written to. Only the
// user may write to the new file. Nothing is left behind on failure. kInvalidArgument where the
// folder is missing or not writable, the disk is full, or the process may write no larger file
// (ulimit -f; no signal comes of that).
Status write_file_atomically(const std::string& path, std::span<const std::byte> bytes,
                             Sync sync = Sync::kNow, Readers readers = Readers::kAll);
Status write_file_atomically(const std::string& path, std::string_view text, Sync sync = Sync::kNow,
                             Readers readers = Readers::kAll);

// Would write_file_atomically be able to? Its error if not; changes nothing.
Status check_writable(const std::string& path);

// Creates the folder and its parents (mode 0700 for those created).
Status make_folders(const std::string& path);

// kInvalidArgument where another user owns the file or folder, or may write to it; the message says
// what to do. Fine where there is none. Root counts as no other user.
Status check_private(const std::string& path);
// make_folders, and check_private of what is there then.
Status make_private_folder(const std::string& path);

// $CLVET_STATE_DIR, else $XDG_STATE_HOME/clvet, else ~/.local/state/clvet; without a home
// /tmp/clvet-<user id>. Not created here.
std::string state_dir();
// $CLVET_CACHE_DIR, else $XDG_CACHE_HOME/clvet, else ~/.cache/clvet; without a home
// /tmp/clvet-<user id>-cache. Not created here.
std::string cache_dir();

}  // namespace clvet
