// Takes a page apart as a browser would, strictly: a fault where a browser would have to guess.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace clvet::test {

struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

struct Page {
  std::vector<Tag> tags;  // those that open
  std::string text;       // what is shown, a blank between elements' texts
  std::string style, script;
  std::string fault;  // empty: every element is closed in order, no attribute stands twice
};

Page read_page(const std::string& page);

// Every tag with its attributes' names.
std::multiset<std::string> markup_of(const Page& page);

// "00ff" -> "AP8=".
std::string base64_of_hex(const std::string& hex);

}  // namespace clvet::test
