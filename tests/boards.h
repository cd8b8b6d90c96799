// Trees that stand for boards, described in JSON (tests/data/boards/README.md) and made on disk.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/elf_writer.h"

namespace clvet::test {

// What each kind of library exports, by the words of the descriptions.
ElfSpec library_of_kind(const std::string& kind);

// What lies at a path of a tree.
struct TreeEntry {
  enum class Is { kText, kLink, kFolder, kLibrary };
  Is is = Is::kText;
  std::string body;         // the text, the link's target or the kind of library
  std::string abi, soname;  // of a library
  std::string holds;        // bytes behind the library
  std::vector<std::string> needed;
  bool gnu_hash = true;
  std::string mode = "0644";
};
TreeEntry text(const std::string& body);
TreeEntry link(const std::string& target);
TreeEntry folder();
TreeEntry elf(const std::string& kind, const std::string& soname = "",
              const std::string& abi = "aarch64");

// By path, from "/".
using Tree = std::map<std::string, TreeEntry>;
// With the entries of `more` added, or put in place of those there.
Tree with(Tree tree, const Tree& more);

// Makes the files below `root`; what was there under their names is lost.
void build_tree(const Tree& tree, const std::string& root);
// The same for a tree as a description has it.
void build_board(const nlohmann::json& tree, const std::string& root);

// Every path below `root` with what it is: kind, mode, target or bytes.
std::map<std::string, std::string> read_tree(const std::string& root);

// A description of tests/data/boards by its name, and the names of all.
nlohmann::json board(const std::string& name);
std::vector<std::string> board_names();

}  // namespace clvet::test
