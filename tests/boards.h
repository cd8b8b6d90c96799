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

// Makes the files of a tree below `root`; what was there under their names is lost.
void build_tree(const nlohmann::json& tree, const std::string& root);

// Every path below `root` with what it is: kind, mode, target or bytes.
std::map<std::string, std::string> read_tree(const std::string& root);

// A description of tests/data/boards by its name, and the names of all.
nlohmann::json board(const std::string& name);
std::vector<std::string> board_names();

}  // namespace clvet::test
