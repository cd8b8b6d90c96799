#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "runtime/cache/binary_file.h"
#include "runtime/cache/program_cache.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class CacheCommand : public testing::Test {
 protected:
  CacheCommand() {
    std::filesystem::create_directories(bench_.state());
    add("here", "a", "gemm_tile");
    add("here", "b", "softmax_row");
  }
  void add(const std::string& environment, const std::string& program, const std::string& kernel) {
    const std::string code = "code of " + program;
    const BinaryLabel label{environment, program, "Board", kernel};
    ASSERT_TRUE(add_program(folder(), binary_file_text(label, std::as_bytes(std::span(code)))));
  }
  std::string folder() const { return program_cache_folder(bench_.state()); }
  nlohmann::json json(std::vector<std::string> words) {
    words.insert(words.begin(), "cache");
    words.insert(words.end(), {"--json", "-"});
    return nlohmann::json::parse(bench_.run(words).out);
  }
  // A report of a device of that environment.
  std::string report_of(const std::string& environment) const {
    Report report = test::report_of(test::device_with());
    report.devices[0].environment_key = environment;
    test::put(bench_ / "r.json", report_to_json(report));
    return bench_ / "r.json";
  }

  test::Bench bench_;
};

TEST_F(CacheCommand, ShowsWhatIsSaved) {
  const auto shown = bench_.run({"cache", "show"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("2 programs in " + folder()), HasSubstr("gemm_tile"),
                               HasSubstr("softmax_row"), HasSubstr("Board")));
  const auto document = json({"show"});
  EXPECT_EQ(document["schema"], "clvet.cache/1");
  EXPECT_THAT(document["programs"], SizeIs(2));
  EXPECT_EQ(document["limit_bytes"], 256 << 20);
  EXPECT_TRUE(document["programs"][0]["fault"].is_null());
}

TEST_F(CacheCommand, ShowsNothingWhereThereIsNoFolder) {
  std::filesystem::remove_all(bench_.state());
  const auto shown = bench_.run({"cache", "show"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("0 programs"));
}

TEST_F(CacheCommand, ShowsWhatWillNotBeUsed) {
  const std::string file = json({"show"})["programs"][0]["file"];
  test::put(folder() + "/" + file, "x");
  ProgramCache(folder(), "elsewhere", "").distrust(kAllPrograms, "it died", false);
  const auto shown = bench_.run({"cache", "show"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("not usable: it is no program binary of clvet"),
                               HasSubstr("not used any more: it died")));
  EXPECT_TRUE(json({"show"})["distrusted"][0]["program_key"].is_null());
}

TEST_F(CacheCommand, ClearsAll) {
  ProgramCache(folder(), "elsewhere", "").distrust(kAllPrograms, "it died", false);
  const auto cleared = bench_.run({"cache", "clear"});
  EXPECT_EQ(cleared.exit_code, 0) << cleared.err;
  EXPECT_THAT(cleared.out, HasSubstr("2 programs removed"));
  const auto document = json({"show"});
  EXPECT_THAT(document["programs"], SizeIs(0));
  EXPECT_THAT(document["distrusted"], SizeIs(0));
}

TEST_F(CacheCommand, TakesBackWhatItExported) {
  const std::string file = bench_ / "programs";
  ASSERT_EQ(bench_.run({"cache", "export", file}).exit_code, 0);
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0077, 0u) << "for nobody else";
  bench_.run({"cache", "clear"});
  const auto taken = bench_.run({"cache", "import", file, "--report", report_of("here")});
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.out, HasSubstr("2 programs taken"));
  ProgramCache cache(folder(), "here", "");
  EXPECT_TRUE(cache.find("a"));
}

TEST_F(CacheCommand, RefusesProgramsOfAnotherEnvironment) {
  const std::string file = bench_ / "programs";
  add("another driver", "c", "pool_window");
  ASSERT_EQ(bench_.run({"cache", "export", file}).exit_code, 0);
  bench_.run({"cache", "clear"});
  const auto taken = bench_.run({"cache", "import", file, "--report", report_of("here")});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_THAT(taken.out, AllOf(HasSubstr("2 programs taken"),
                               HasSubstr("1 programs refused: it was made for another")));
  EXPECT_THAT(json({"show"})["programs"], SizeIs(2));
}

TEST_F(CacheCommand, TakesNothingThatADriverDiedOf) {
  const std::string file = bench_ / "programs";
  ASSERT_EQ(bench_.run({"cache", "export", file}).exit_code, 0);
  ProgramCache(folder(), "here", "").distrust("a", "the driver died of it", false);
  const auto taken = bench_.run({"cache", "import", file, "--report", report_of("here")});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_THAT(taken.out, HasSubstr("refused: the driver died of it"));
  EXPECT_THAT(json({"show"})["programs"], SizeIs(1));
}

TEST_F(CacheCommand, RefusesADamagedFileAndAMachineWithoutAReport) {
  const std::string file = bench_ / "programs";
  ASSERT_EQ(bench_.run({"cache", "export", file}).exit_code, 0);
  const auto without = bench_.run({"cache", "import", file});
  EXPECT_EQ(without.exit_code, 3) << without.err;
  std::string text = test::get(file);
  text[text.size() / 2] ^= 1;
  test::put(file, text);
  const auto damaged = bench_.run({"cache", "import", file, "--report", report_of("here")});
  EXPECT_EQ(damaged.exit_code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("cut off or damaged"));
  EXPECT_EQ(bench_.run({"cache", "import", bench_ / "none"}).exit_code, 2);
}

TEST_F(CacheCommand, HasNothingToExportWhereNothingIsSaved) {
  bench_.run({"cache", "clear"});
  const auto done = bench_.run({"cache", "export", bench_ / "programs"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(bench_ / "programs"));
}

TEST_F(CacheCommand, TouchesNoFolderThatOthersMayWriteTo) {
  ::chmod(folder().c_str(), 0777);
  for (const char* verb : {"show", "clear"})
    EXPECT_EQ(bench_.run({"cache", verb}).exit_code, 2) << verb;
}

}  // namespace
}  // namespace clvet
