// What a dynamic linker would do with a name, told from the files alone. Nothing is loaded.
//
// Linux: LD_LIBRARY_PATH, the folders of /etc/ld.so.conf (as if ldconfig had been run: by SONAME),
// the built-in ones. Android: an app's view, in which a vendor's library is reached by a bare name
// alone, and only where a public.libraries file lists it for the app's word size.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/elf_library.h"
#include "probe/files/file_view.h"

namespace clvet {

enum class System { kLinux, kAndroid, kOpenHarmony };
const char* to_string(System system);

struct Abi {
  int bits = 0;
  uint16_t machine = 0;
  bool operator==(const Abi&) const = default;
};
// "aarch64", "x86-64", ...; "machine 99" for one that we have no word for.
std::string abi_name(const Abi& abi);
// "aarch64-linux-gnu"; empty where we know none.
std::string triplet_of(const Abi& abi);

struct LinkerSetting {
  System system = System::kLinux;
  Abi abi;
  std::map<std::string, std::string> variables;
  std::vector<std::string> conf_folders;  // of Linux: conf_folders()

  // Its value; empty where it is not set.
  std::string variable(const std::string& name) const;
};
// The folders that /etc/ld.so.conf and what it includes name, each once; a bounded number.
std::vector<std::string> conf_folders(const FileSystemView& view);
// This program's.
Abi own_abi();
// The system and ABI of a view: those of its shell and of its C library, else of most of its OpenCL
// libraries, else this program's own.
LinkerSetting setting_of(const FileSystemView& view);

struct Opening {
  enum class Outcome { kOpened, kAbsent, kWrongAbi, kDependency, kNotAccessible, kNoLibrary };
  Outcome outcome = Outcome::kAbsent;
  std::string path;               // the file behind every link, where one was found
  std::string detail;             // the dependency that is missing, the other ABI, the fault
  std::set<std::string> symbols;  // OpenCL's, of the library and what it needs
  ElfLibrary library;
};
const char* to_string(Opening::Outcome outcome);

Opening open_library(const FileSystemView& view, const LinkerSetting& setting,
                     const std::string& name);

// The folders in which a bare name is looked for, in order; a bounded number.
std::vector<std::string> library_folders(const FileSystemView& view, const LinkerSetting& setting);

// Folders of which the linker knows only what ldconfig put into its cache.
std::set<std::string> cache_folders(const LinkerSetting& setting);

}  // namespace clvet
