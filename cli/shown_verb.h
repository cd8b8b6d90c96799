// What a person can type, as plain data: for completion in shells and for manual pages.
#pragma once

#include <string>
#include <vector>

namespace clvet {

struct ShownOption {
  std::vector<std::string> names;  // "-h", "--help"; of an argument none
  std::string value;               // what help calls the value; empty: a flag
  std::vector<std::string> words;  // all values that there are; empty: not known
  std::string standard;            // the value that it has without; empty: not shown
  std::string what;
  bool required = false;
  bool takes_file() const;  // or a folder
};

struct ShownVerb {
  std::string name, what;
  std::string notes;                 // below the options: exit status and examples
  std::vector<ShownOption> options;  // with those of groups
  std::vector<ShownOption> arguments;
  std::vector<ShownVerb> verbs;  // without hidden ones
};

// Of the program a page of its own, and one for each verb: as groff's man macros have it.
struct ManualPage {
  std::string name;  // of the file: "clvet-run.1"
  std::string text;
};
std::vector<ManualPage> manual_pages(const ShownVerb& program);

// Scripts that complete verbs, options and values.
std::string bash_completion(const ShownVerb& program);
std::string zsh_completion(const ShownVerb& program);
std::string fish_completion(const ShownVerb& program);

}  // namespace clvet
