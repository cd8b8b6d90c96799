#include "runtime/cache/program_bundle.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>

#include "base/result.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ProgramBundle, GivesBackItsFiles) {
  const std::string text = bundle_of({"one", "", std::string("a\0b", 3)});
  EXPECT_THAT(parse_bundle(text).value(), ElementsAre("one", "", std::string("a\0b", 3)));
}

TEST(ProgramBundle, IsRefusedWhereItIsCutOrAnyBitIsAnother) {
  const std::string text = bundle_of({"one", "two"});
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse_bundle(text.substr(0, size))) << size;
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(parse_bundle(flipped)) << "bit " << bit;
  }
}

TEST(ProgramBundle, SaysWhatIsWrong) {
  EXPECT_THAT(parse_bundle("{}").error().message, HasSubstr("'clvet cache export'"));
  std::string text = bundle_of({"one"});
  text[8] = 7;
  EXPECT_THAT(parse_bundle(text).error().message, HasSubstr("has version 7"));
}

}  // namespace
}  // namespace clvet
