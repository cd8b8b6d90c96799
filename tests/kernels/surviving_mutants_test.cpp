// What ci/mutate_kernels.py takes for known speaks of lines that the kernels still have.
#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include "tests/json_fields.h"
#include "tests/support.h"

namespace clvet {
namespace {

// One space for each run of white space; the lines of a macro are one.
std::string in_one_line(std::string_view text) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool goes_on = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n';
    const bool space = goes_on || std::isspace(static_cast<unsigned char>(text[i])) != 0;
    if (!space) line += text[i];
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

TEST(SurvivingMutants, AreOfLinesThatAreThere) {
  const std::string tests = CLVET_SOURCE_DIR "/tests/kernels/surviving_mutants.json";
  const test::JsonFields rows(test::get(tests));
  EXPECT_GT(rows.size(""), 0u);
  for (const std::string& row : rows.names("")) {
    const std::string file = rows.text("/" + row + "/file"),
                      before = rows.text("/" + row + "/before");
    const std::string text = in_one_line(test::get(CLVET_SOURCE_DIR "/kernels/" + file));
    EXPECT_NE(text.find(in_one_line(before)), std::string::npos) << file << ": " << before;
  }
}

}  // namespace
}  // namespace clvet
