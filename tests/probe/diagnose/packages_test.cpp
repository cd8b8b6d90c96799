#include "probe/diagnose/packages.h"

#include <gmock/gmock.h>

#include <string>

#include "probe/diagnose/rules.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(InstallCommands, CanBeTypedOnEachDistribution) {
  for (const char* part : {"loader", "development", "libclc", "loader-again"}) {
    const auto commands = install_commands(part);
    ASSERT_TRUE(commands) << part;
    EXPECT_THAT(*commands,
                AllOf(HasSubstr("Debian, Ubuntu: 'sudo apt-get install "),
                      HasSubstr("; Fedora: 'sudo dnf "), HasSubstr("; Arch: 'sudo pacman "),
                      HasSubstr("; Alpine: 'sudo apk ")));
  }
  EXPECT_THAT(*install_commands("cpu"), HasSubstr("sudo apt-get install pocl-opencl-icd"));
  EXPECT_FALSE(install_commands("nosuch"));
}

TEST(InstallCommands, StandInTextsInPlaceOfThePartsName) {
  EXPECT_EQ(*with_commands("plain {path}"), "plain {path}");
  EXPECT_EQ(*with_commands("a {install:cpu} b {install:cpu}"),
            "a " + *install_commands("cpu") + " b " + *install_commands("cpu"));
  for (const char* bad : {"{install:nosuch}", "{install:", "{install:cpu"})
    EXPECT_FALSE(with_commands(bad)) << bad;
}

// A package that is named without its command cannot be typed.
TEST(InstallCommands, StandWhereverARuleNamesAPackage) {
  const auto rules = failure_rules("");
  ASSERT_TRUE(rules);
  for (const Rule& rule : *rules) {
    for (const RuleFix& fix : rule.fixes) {
      for (const auto& [language, text] : fix.text) {
        EXPECT_THAT(text, Not(HasSubstr("{install:"))) << rule.name;
        for (const char* package :
             {"ocl-icd-libopencl1", "ocl-icd-opencl-dev", "pocl-opencl-icd"}) {
          if (text.find(package) != std::string::npos)
            EXPECT_THAT(text, HasSubstr("sudo dnf ")) << rule.name << " " << language;
        }
      }
    }
  }
}

}  // namespace
}  // namespace clvet
