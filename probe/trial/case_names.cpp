#include "probe/trial/case_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "base/result.h"
#include "kernels/catalog.h"

namespace clvet {
namespace {

std::vector<std::string> all_names(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Manifest& manifest : catalog.manifests()) {
    for (const Variant& variant : variants_of(manifest)) {
      for (const TestShape& shape : manifest.tests) {
        names.push_back(variant.name() + "/" + shape.name);
      }
    }
  }
  return names;
}

// As many parts of the name as the pattern has.
std::string beginning(const std::string& name, std::ptrdiff_t slashes) {
  size_t end = 0;
  for (std::ptrdiff_t i = 0; i <= slashes && end != std::string::npos; ++i) {
    end = name.find('/', end == 0 ? 0 : end + 1);
  }
  return name.substr(0, end);
}

std::vector<std::string> nearest(const std::string& pattern,
                                 const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  const auto slashes = std::count(pattern.begin(), pattern.end(), '/');
  std::string letters_of_pattern = pattern;
  std::erase(letters_of_pattern, '*');
  std::vector<std::string> parts;
  parts.reserve(names.size());
  for (const std::string& name : names) parts.push_back(beginning(name, slashes));
  return nearest_words(letters_of_pattern, parts, kMost);
}

}  // namespace

bool names_case(const std::string& pattern, const std::string& name) {
  return ::fnmatch(("*" + pattern + "*").c_str(), name.c_str(), 0) == 0;
}

Status check_case_patterns(const Catalog& catalog, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return {};
  const std::vector<std::string> names = all_names(catalog);
  for (const std::string& pattern : patterns) {
    const bool known = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return names_case(pattern, name);
    });
    if (known) continue;
    return fail(ErrorCode::kInvalidArgument, "--case {}: there is no such case; the nearest are {}",
                pattern, fmt::join(nearest(pattern, names), ", "));
  }
  return {};
}

}  // namespace clvet
