#include "base/pattern.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/regex.h"
#include "base/result.h"

namespace clvet {

struct Pattern::Compiled {
  Regex regex;

  std::vector<std::string> parts(std::string_view text, Regex::Reach reach) const {
    const auto found = regex.parts(text, reach);
    if (!found) return {};
    return {found->begin(), found->end()};
  }
};

Pattern::Pattern(const std::string& text, Case letters) {
  auto regex = Regex::compile(
      text, letters == Case::kAny ? Regex::Syntax::kBytesOfAnyCase : Regex::Syntax::kBytes);
  if (!regex) throw std::runtime_error(regex.error().message);
  compiled_ = std::make_shared<const Compiled>(Compiled{std::move(*regex)});
}

bool Pattern::fits(std::string_view text) const { return !parts(text).empty(); }

bool Pattern::found_in(std::string_view text) const { return !first_parts(text).empty(); }

std::vector<std::string> Pattern::parts(std::string_view text) const {
  return compiled_->parts(text, Regex::Reach::kWhole);
}

std::vector<std::string> Pattern::first_parts(std::string_view text) const {
  return compiled_->parts(text, Regex::Reach::kAnyPart);
}

std::string Pattern::replace_in(const std::string& text, const std::string& by) const {
  auto replaced = compiled_->regex.replaced(text, by);
  if (!replaced) throw std::runtime_error(replaced.error().message);
  return std::move(*replaced);
}

}  // namespace clvet
