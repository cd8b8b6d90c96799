#include "base/pattern.h"

#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace clvet {

struct Pattern::Compiled {
  std::regex regex;
};

namespace {

using Found = std::match_results<const char*>;

const char* end_of(std::string_view text) { return text.data() + text.size(); }

std::vector<std::string> texts(const Found& found) { return {found.begin(), found.end()}; }

}  // namespace

Pattern::Pattern(const std::string& text, Case letters)
    : compiled_(std::make_shared<const Compiled>(Compiled{
          std::regex(text, letters == Case::kAny ? std::regex::ECMAScript | std::regex::icase
                                                 : std::regex::ECMAScript)})) {}

bool Pattern::fits(std::string_view text) const {
  return std::regex_match(text.data(), end_of(text), compiled_->regex);
}

bool Pattern::found_in(std::string_view text) const {
  return std::regex_search(text.data(), end_of(text), compiled_->regex);
}

std::vector<std::string> Pattern::parts(std::string_view text) const {
  Found found;
  std::regex_match(text.data(), end_of(text), found, compiled_->regex);
  return texts(found);
}

std::vector<std::string> Pattern::first_parts(std::string_view text) const {
  Found found;
  std::regex_search(text.data(), end_of(text), found, compiled_->regex);
  return texts(found);
}

std::string Pattern::replace_in(const std::string& text, const std::string& by) const {
  return std::regex_replace(text, compiled_->regex, by);
}

}  // namespace clvet
