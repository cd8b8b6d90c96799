#include "base/nearest.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kVerbs{"check", "diagnose", "discover", "generate",
                                      "plan",  "probe",    "report",   "run"};

TEST(LettersBetween, CountsThoseThatAreChangedAddedAndLeftOut) {
  EXPECT_EQ(letters_between("", ""), 0U);
  EXPECT_EQ(letters_between("probe", ""), 5U);
  EXPECT_EQ(letters_between("prob", "probe"), 1U);
  EXPECT_EQ(letters_between("kitten", "sitting"), 3U);
}

TEST(NearestWords, ComeInOrderAndOnce) {
  EXPECT_THAT(nearest_words("cheek", {"run", "chess", "check", "check"}, 2),
              ElementsAre("check", "chess"));
  EXPECT_THAT(nearest_words("x", {}, 3), IsEmpty());
}

TEST(LikelyWords, AreThoseThatAWordMayBeASlipOf) {
  EXPECT_THAT(likely_words("prob", kVerbs), ElementsAre("probe"));
  EXPECT_THAT(likely_words("porbe", kVerbs), ElementsAre("probe"));
  EXPECT_THAT(likely_words("PLAN", kVerbs), ElementsAre("plan"));
  EXPECT_THAT(likely_words("gen", kVerbs), ElementsAre("generate")) << "its beginning";
  EXPECT_THAT(likely_words("fun", kVerbs), ElementsAre("run"));
  EXPECT_THAT(likely_words("di", kVerbs), ElementsAre("diagnose", "discover"));
}

TEST(LikelyWords, AreNoneWhereTheWordIsFarFromAll) {
  for (const std::string& word : {std::string(), std::string("x"), std::string("benchmark"),
                                  std::string("install"), std::string(1 << 20, 'p')})
    EXPECT_THAT(likely_words(word, kVerbs), IsEmpty()) << word.substr(0, 20);
}

}  // namespace
}  // namespace clvet
