// The script of a fix under bad luck: cut short, run beside another one, from another folder.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/language.h"
#include "probe/diagnose/fix_script.h"
#include "probe/files/change.h"
#include "tests/boards.h"
#include "tests/english.h"
#include "tests/scoped_language.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class FixScriptRun : public testing::Test {
 protected:
  FixScriptRun() { fs::create_directory(tree_); }

  // Its exit status; what it printed is in said_.
  int run(const std::vector<Change>& changes, const std::string& mode) {
    return run_text(fix_script({{"x", changes}}, ""), mode);
  }
  int run_text(const std::string& script, const std::string& mode) {
    test::put(dir_ / "fix.sh", script);
    const std::string command = "CLVET_FIX_ROOT='" + tree_ + "' sh '" + dir_ / "fix.sh" + "' " +
                                mode + " > '" + dir_ / "said" + "' 2>&1";
    const int status = ::system(command.c_str());
    said_ = test::get(dir_ / "said");
    return WEXITSTATUS(status);
  }
  // The script with a step that fails in the midst of every change.
  static std::string cut_short(const std::vector<Change>& changes, const std::string& line) {
    std::string script = fix_script({{"x", changes}}, "");
    const size_t at = script.find(line);
    EXPECT_NE(at, std::string::npos);
    return script.insert(at, "false; ");
  }

  const test::TempDir dir_;
  const std::string tree_ = dir_ / "tree";
  std::string said_;
};

const std::vector<Change> kFile = {{Change::Kind::kFile, "/f", "new\n"}};
const std::vector<Change> kLink = {{Change::Kind::kLink, "/f", "target"}};
// The moment between putting the old file away and its successor's coming.
constexpr const char* kBetween = "mv \"$1.clvet-part\" \"$1\"";

TEST_F(FixScriptRun, TakesBackARunThatWasCutShort) {
  for (const std::vector<Change>& changes : {kFile, kLink}) {
    test::put(tree_ + "/f", "mine\n");
    const auto original = test::read_tree(tree_);
    EXPECT_NE(run_text(cut_short(changes, kBetween), "--apply"), 0);
    EXPECT_EQ(run(changes, "--undo"), 0) << said_;
    EXPECT_EQ(test::read_tree(tree_), original);
  }
}

TEST_F(FixScriptRun, TakesBackTheFoldersOfARunThatWasCutShort) {
  const std::vector<Change> deep = {{Change::Kind::kFile, "/a/b/f", "new\n"}};
  EXPECT_NE(run_text(cut_short(deep, "put \"$1\"\n"), "--apply"), 0);
  EXPECT_EQ(run(deep, "--undo"), 0) << said_;
  EXPECT_TRUE(fs::is_empty(tree_));
}

TEST_F(FixScriptRun, GoesOnWithARunThatWasCutShort) {
  test::put(tree_ + "/f", "mine\n");
  EXPECT_NE(run_text(cut_short(kFile, kBetween), "--apply"), 0);
  EXPECT_EQ(run(kFile, "--apply"), 0) << said_;
  EXPECT_EQ(test::get(tree_ + "/f"), "new\n");
  EXPECT_EQ(run(kFile, "--undo"), 0) << said_;
  EXPECT_EQ(test::get(tree_ + "/f"), "mine\n");
}

TEST_F(FixScriptRun, SaysWhereAnotherScriptWasThereBefore) {
  const std::vector<Change> other = {{Change::Kind::kFile, "/f", "other\n"}};
  test::put(tree_ + "/f", "mine\n");
  EXPECT_EQ(run(kFile, "--apply"), 0);
  EXPECT_EQ(run(other, "--apply"), 1);
  EXPECT_THAT(said_, HasSubstr("undo that first"));
  EXPECT_EQ(test::get(tree_ + "/f"), "new\n");
  EXPECT_EQ(run(other, "--undo"), 1);
  EXPECT_THAT(said_, HasSubstr("left as it is"));
  EXPECT_EQ(run(kFile, "--undo"), 0);
  EXPECT_EQ(test::get(tree_ + "/f"), "mine\n");
}

TEST_F(FixScriptRun, WritesAPathOnce) {
  const std::vector<Change> twice = {{Change::Kind::kLink, "/f", "a"},
                                     {Change::Kind::kLink, "/f", "b"}};
  EXPECT_EQ(run(twice, "--apply"), 0) << said_;
  EXPECT_EQ(fs::read_symlink(tree_ + "/f"), "a");
  EXPECT_EQ(run(twice, "--undo"), 0) << said_;
  EXPECT_TRUE(fs::is_empty(tree_));
}

TEST_F(FixScriptRun, TakesBackTheRestWhereItLeftOutWhatLiesBehindALink) {
  fs::create_symlink("/tmp", tree_ + "/link");
  const std::vector<Change> changes = {{Change::Kind::kFile, "/f", "new\n"},
                                       {Change::Kind::kFile, "/link/clvet-never", "new\n"},
                                       {Change::Kind::kFile, "/g", "new\n"}};
  EXPECT_EQ(run(changes, "--apply"), 1);
  EXPECT_THAT(said_, HasSubstr("/link is a link"));
  EXPECT_FALSE(fs::exists("/tmp/clvet-never"));
  EXPECT_EQ(test::get(tree_ + "/g"), "new\n");
  EXPECT_EQ(run(changes, "--undo"), 0) << said_;
  EXPECT_FALSE(fs::exists(tree_ + "/f"));
  EXPECT_FALSE(fs::exists(tree_ + "/g"));
}

TEST_F(FixScriptRun, TakesATreeByARelativeName) {
  for (const char* root : {"tree", "./tree/"}) {
    test::put(dir_ / "fix.sh", fix_script({{"x", kLink}}, root));
    const std::string command = "cd '" + dir_.path() + "' && sh fix.sh ";
    ASSERT_EQ(::system((command + "--apply > said 2>&1").c_str()), 0);
    EXPECT_EQ(fs::read_symlink(tree_ + "/f"), "target");
    ASSERT_EQ(::system((command + "--undo > said 2>&1").c_str()), 0);
    EXPECT_TRUE(fs::is_empty(tree_));
  }
}

TEST_F(FixScriptRun, SpeaksTheLanguageOfWhoMadeIt) {
  const test::ScopedLanguage chinese(Language::kChinese);
  fs::create_symlink("/tmp", tree_ + "/link");
  test::put(tree_ + "/from", "x");
  const std::vector<Change> changes = {{Change::Kind::kFile, "/f", "new\n"},
                                       {Change::Kind::kLink, "/l", "target"},
                                       {Change::Kind::kMove, "/from", "/to"},
                                       {Change::Kind::kMove, "/missing", "/never"},
                                       {Change::Kind::kFile, "/link/clvet-never", "new\n"},
                                       {Change::Kind::kVariable, "NAME", "value"}};
  const std::vector<Change> other = {{Change::Kind::kFile, "/f", "other\n"}};
  EXPECT_THAT(test::english_lines(fix_script({}, "").substr(0, 400)), testing::IsEmpty());
  for (const char* mode : {"", "--apply", "--apply", "--nonsense"}) {
    run(changes, mode);
    EXPECT_THAT(said_, testing::ContainsRegex("[^ -~\n]")) << mode;
    EXPECT_THAT(test::english_lines(said_), testing::IsEmpty()) << mode;
  }
  run(other, "--apply");
  EXPECT_THAT(test::english_lines(said_), testing::IsEmpty());
  run(other, "--undo");
  EXPECT_THAT(test::english_lines(said_), testing::IsEmpty());
  EXPECT_EQ(run(changes, "--undo"), 0);
  EXPECT_THAT(said_, HasSubstr("已恢复"));
}

TEST_F(FixScriptRun, PrintsNoTerminalsCommands) {
  EXPECT_EQ(run({{Change::Kind::kFile, "/\x1b]0;x\x07", "\x1b[31m\n"}}, ""), 0);
  EXPECT_THAT(said_, HasSubstr("would write"));
  EXPECT_THAT(said_, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace clvet
