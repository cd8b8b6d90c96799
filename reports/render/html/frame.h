// What every page has around its contents: head, policy, style and scripts of this program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clvet {

// A file of this folder that the program holds; empty where there is none of that name.
std::string_view page_part(std::string_view path);

struct PageFrame {
  std::string title;                 // anybody's text
  std::string style;                 // of page_part()
  std::vector<std::string> scripts;  // of page_part(); they run in this order, after the body
};

// The whole document. The policy lets a browser run these scripts alone, and fetch nothing.
std::string framed_page(const PageFrame& frame, const std::string& body);

}  // namespace clvet
