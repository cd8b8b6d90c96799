// Binaries of programs, kept between starts as files of the folder `programs` in the state folder.
// It calls no driver: who does (runtime/exec/programs.h) says what a driver took or refused.
//
// Any number of processes may work on one folder: files are replaced and removed as a whole.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/cache/binary_file.h"

namespace clvet {

// In the place of a program's key: every program of the environment.
inline constexpr const char* kAllPrograms = "*";

// Bytes that a folder may hold; beyond that the files go that were not used for the longest time.
// $CLVET_PROGRAM_CACHE_MIB, else 256 MiB; 0: binaries are neither kept nor used.
size_t program_cache_limit();
std::string program_cache_folder(const std::string& state_dir);

// A file of the folder, as `clvet cache show` lists it.
struct CachedProgram {
  std::string file;  // without the folder
  size_t bytes = 0;  // of the file
  double used = 0;   // seconds since 1970
  BinaryLabel label;
  std::string fault;  // why it will not be used; empty: nothing is wrong with it
};

// What is not to be loaded, or kept, in an environment any more.
struct DistrustedProgram {
  std::string environment_key, program_key, reason;
};

// The programs of one device.
class ProgramCache {
 public:
  // An empty folder or environment: nothing is kept and nothing found.
  ProgramCache(std::string folder, std::string environment_key, std::string device);

  // False: nothing is kept and nothing found here.
  bool is_on() const { return on_; }
  // Sentences for the user, each once: why nothing is kept, what an earlier start found out.
  std::vector<std::string> take_notes();

  struct Found {
    std::string text;  // of the whole file
    BinaryFile file;   // within `text`
  };
  // Nothing where there is none. A file that is damaged, of another program or not this user's is
  // removed, with a note.
  std::optional<Found> find(const std::string& program_key);
  // Replaces what was kept of this program, and keeps the folder within its limit. The first error
  // is a note; nothing is kept after that.
  void keep(const std::string& program_key, const std::string& kernel,
            std::span<const std::byte> binary);
  // The driver does not take it: removed, with a note.
  void refuse(const std::string& program_key, const std::string& kernel, const std::string& why);
  // Removed, and neither kept nor found any more by any start: `reason` is what the next one says,
  // this one where `say`.
  void distrust(const std::string& program_key, const std::string& reason, bool say);
  // A driver that dies of a second binary is given no third one.
  bool distrusts_some() const { return !distrusted_.empty(); }

 private:
  std::string path_of(const std::string& program_key) const;
  bool is_distrusted(const std::string& program_key) const;
  void read_distrusted();
  void turn_off(const Error& error);

  std::string folder_, environment_key_, device_;
  bool on_ = false;
  std::vector<DistrustedProgram> distrusted_;
  std::vector<std::string> notes_;
};

// Of all devices, by name of file. None where there is no folder; an error where others may write
// to it.
Result<std::vector<CachedProgram>> list_programs(const std::string& folder);
std::vector<DistrustedProgram> distrusted_programs(const std::string& folder);
// The text of a file of the folder, which is fit to be used.
Result<std::string> read_program(const std::string& folder, const std::string& file);
// Keeps the text of such a file, which may come from elsewhere. kInvalidArgument: it is damaged, or
// cannot be written; kUnsupported: binaries of that program are not used here.
Status add_program(const std::string& folder, std::string_view text);
// Removes all that the cache wrote there. Gives the number of binaries.
Result<size_t> clear_programs(const std::string& folder);

}  // namespace clvet
