// Sizes are said in one kind of unit: KiB, MiB, GiB. Speeds are GB/s.
#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support.h"

namespace clvet {
namespace {

std::vector<std::string> texts_for_people() {
  const std::string root = CLVET_SOURCE_DIR;
  std::vector<std::string> files{root + "/README.md"};
  for (const char* folder : {"/docs", "/base/catalogue/zh", "/probe/data/advice/rules"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
  }
  return files;
}

// "16 MB", and no "16 GB/s".
size_t decimal_sizes(const std::string& text) {
  size_t found = 0;
  for (const char* unit : {"kB", "KB", "MB", "GB"}) {
    for (size_t at = text.find(unit); at != std::string::npos; at = text.find(unit, at + 2)) {
      const char before = at == 0 ? ' ' : text[at - 1];
      const char after = at + 2 < text.size() ? text[at + 2] : ' ';
      const bool word = (before == ' ' || before == '}' || (before >= '0' && before <= '9')) &&
                        !std::isalnum(static_cast<unsigned char>(after));
      found += word && after != '/';
    }
  }
  return found;
}

TEST(Units, OfSizesAreBinaryInAllTexts) {
  ASSERT_EQ(decimal_sizes("takes 16 MB, 3GB; 200 GB/s, 5 MiB, {:.3g} kB"), 3U);
  for (const std::string& file : texts_for_people())
    EXPECT_EQ(decimal_sizes(test::get(file)), 0U) << file;
}

}  // namespace
}  // namespace clvet
