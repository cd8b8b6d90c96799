#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/files/file_view.h"
#include "probe/files/icd_files.h"
#include "probe/files/library_search.h"
#include "probe/report/report.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::TempDir;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Environment variables(std::map<std::string, std::string> rows) {
  return [rows = std::move(rows)](const std::string& name) -> std::optional<std::string> {
    const auto found = rows.find(name);
    return found == rows.end() ? std::nullopt : std::optional(found->second);
  };
}

std::vector<std::string> names_of(const CandidateList& list,
                                  std::optional<Origin> origin = std::nullopt) {
  std::vector<std::string> names;
  for (const Candidate& row : list.candidates) {
    if (!origin || row.origin == *origin) names.push_back(row.name);
  }
  return names;
}

auto fault(IcdFaultKind kind, const std::string& text) {
  return AllOf(Field(&IcdFault::kind, kind), Field(&IcdFault::text, HasSubstr(text)));
}

IcdFileReport icd(const TempDir& dir, std::string_view text) {
  test::put(dir / "x.icd", text);
  return read_icd_file(*view_of(""), dir / "x.icd");
}

TEST(IcdFile, InOrderHasATargetAndNoFault) {
  const TempDir dir;
  const IcdFileReport report = icd(dir, "libmali.so.1\n");
  EXPECT_EQ(report.target, "libmali.so.1");
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_THAT(icd(dir, "libmali.so.1").faults, IsEmpty()) << "no newline at the end";
}

TEST(IcdFile, NamesEveryFaultThatALoaderStumblesOver) {
  const TempDir dir;
  EXPECT_THAT(icd(dir, "").faults, ElementsAre(fault(IcdFaultKind::kNoName, "names no library")));
  EXPECT_THAT(icd(dir, "\n\n").faults,
              ElementsAre(fault(IcdFaultKind::kNoName, "names no library")));
  EXPECT_THAT(icd(dir, "libmali.so\r\n").faults, ElementsAre(fault(IcdFaultKind::kCrLf, "CR LF")));
  EXPECT_THAT(icd(dir, " libmali.so \n").faults,
              ElementsAre(fault(IcdFaultKind::kBlanks, "blanks")));
  EXPECT_THAT(icd(dir, "\xEF\xBB\xBFlibmali.so\n").faults,
              ElementsAre(fault(IcdFaultKind::kByteOrderMark, "byte-order mark")));
  EXPECT_THAT(icd(dir, "liba.so\nlibb.so\n").faults,
              ElementsAre(fault(IcdFaultKind::kManyLines, "more than one line")));
  EXPECT_THAT(
      icd(dir, "/nonexistent/liba.so\n").faults,
      ElementsAre(fault(IcdFaultKind::kAbsentLibrary, "does not exist: /nonexistent/liba.so")));
  EXPECT_THAT(icd(dir, std::string(70000, 'x')).faults,
              ElementsAre(fault(IcdFaultKind::kUnreadable, "too large")));
  EXPECT_THAT(read_icd_file(*view_of(""), dir / "none.icd").faults,
              ElementsAre(fault(IcdFaultKind::kUnreadable, dir / "none.icd")));
  EXPECT_THAT(read_icd_file(*view_of(""), dir.path()).faults,
              ElementsAre(fault(IcdFaultKind::kUnreadable, "folder")));
}

TEST(IcdFile, GivesTheTargetDespiteAFaultThatCanBeSeenThrough) {
  const TempDir dir;
  EXPECT_EQ(icd(dir, "\xEF\xBB\xBF libmali.so \r\nsecond\n").target, "libmali.so");
  EXPECT_EQ(icd(dir, "lib\xFFmali.so\n").target, "lib\xEF\xBF\xBDmali.so");
}

TEST(Candidates, AreTheNamedLibrariesOnlyWhereSomeAreNamed) {
  const TempDir dir;
  test::put(dir / "libx.so", "");
  const auto list = find_candidates({dir / "libx.so", "libOpenCL.so.1", dir / "libx.so"},
                                    variables({{"OCL_ICD_VENDORS", dir.path()}}));
  ASSERT_TRUE(list);
  EXPECT_THAT(names_of(*list), ElementsAre(dir / "libx.so", "libOpenCL.so.1"));
  EXPECT_EQ(names_of(*list, Origin::kOption).size(), 2u);
  EXPECT_THAT(list->icd_files, IsEmpty());
}

TEST(Candidates, BeginWithTheLoaderThenIcdFilesThenKnownNames) {
  const TempDir dir;
  test::put(dir / "b.icd", "/opt/b.so\n");
  test::put(dir / "a.icd", "/opt/a.so\n");
  test::put(dir / "notes.txt", "/opt/not.so\n");
  const auto list = find_candidates({}, variables({{"OCL_ICD_VENDORS", dir.path()}}));
  ASSERT_TRUE(list);
  const auto names = names_of(*list);
  EXPECT_EQ(names.at(0), "libOpenCL.so.1");
  EXPECT_THAT(names_of(*list, Origin::kIcdFile), ElementsAre("/opt/a.so", "/opt/b.so"));
  EXPECT_THAT(names, Not(Contains("/opt/not.so")));
  const auto at = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  EXPECT_LT(at("libOpenCL.so"), at("/opt/a.so"));
  EXPECT_LT(at("/opt/b.so"), at("libmali.so.1"));
  EXPECT_LT(at("libmali.so.1"), static_cast<long>(names.size()));
  EXPECT_EQ(list->icd_files.size(), 2u);
}

TEST(Candidates, HoldLibrariesThatProgramsVariablesName) {
  const auto names =
      names_of(*find_candidates({}, variables({{"LIBOPENCL_SO_PATH_3", "/x/libstub.so"},
                                               {"OPENCV_OPENCL_RUNTIME", "/x/cv.so"}})));
  EXPECT_THAT(names, testing::IsSupersetOf({"/x/libstub.so", "/x/cv.so"}));
  EXPECT_THAT(names_of(*find_candidates({}, variables({{"OPENCV_OPENCL_RUNTIME", "disabled"}}))),
              Not(Contains("disabled")));
}

TEST(Candidates, HoldEachNameOnce) {
  const TempDir dir;
  test::put(dir / "a.icd", "libOpenCL.so.1\n");
  test::put(dir / "b.icd", "libmali.so\n");
  const auto list = find_candidates({}, variables({{"OCL_ICD_VENDORS", dir.path()}}));
  auto names = names_of(*list);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Candidates, TakeTheIcdVariablesInEveryFormThatLoadersTake) {
  const TempDir dir;
  test::put(dir / "one.icd", "/opt/one.so\n");
  EXPECT_THAT(names_of(*find_candidates({}, variables({{"OCL_ICD_VENDORS", dir / "one.icd"}})),
                       Origin::kIcdFile),
              ElementsAre("/opt/one.so"));
  EXPECT_THAT(names_of(*find_candidates({}, variables({{"OCL_ICD_VENDORS", "libpocl.so.2"}})),
                       Origin::kIcdFile),
              ElementsAre("libpocl.so.2"));
  EXPECT_THAT(names_of(*find_candidates({}, variables({{"OPENCL_VENDOR_PATH", dir.path()}})),
                       Origin::kIcdFile),
              ElementsAre("/opt/one.so"));
  EXPECT_THAT(names_of(*find_candidates({}, variables({{"OCL_ICD_FILENAMES", "/x/a.so:/x/b.so"},
                                                       {"OCL_ICD_VENDORS", dir.path()}})),
                       Origin::kIcdFile),
              ElementsAre("/x/a.so", "/x/b.so", "/opt/one.so"));
}

// ocl-icd takes a folder alone in OPENCL_VENDOR_PATH, and looks there for the bare name of a file.
TEST(Candidates, TakeAVendorPathAsOclIcdDoes) {
  const TempDir dir;
  test::put(dir / "one.icd", "/opt/one.so\n");
  EXPECT_THAT(names_of(*find_candidates({}, variables({{"OPENCL_VENDOR_PATH", dir / "one.icd"}})),
                       Origin::kIcdFile),
              IsEmpty());
  EXPECT_THAT(names_of(*find_candidates({}, variables({{"OPENCL_VENDOR_PATH", dir.path()},
                                                       {"OCL_ICD_VENDORS", "one.icd"}})),
                       Origin::kIcdFile),
              ElementsAre("/opt/one.so"));
}

TEST(Candidates, TakeAFolderFromWhereTheProcessRuns) {
  const TempDir dir;
  test::put(dir / "one.icd", "/opt/one.so\n");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path() + "/..");
  const auto list = find_candidates({}, variables({{"OCL_ICD_VENDORS", file_name_of(dir.path())}}));
  std::filesystem::current_path(before);
  EXPECT_THAT(names_of(*list, Origin::kIcdFile), ElementsAre("/opt/one.so"));
}

TEST(Candidates, HoldABoundedNumberOfIcdFilesAndNoneThatWouldBlock) {
  const TempDir dir;
  for (int i = 0; i < 400; ++i) test::put(dir / fmt::format("a{}.icd", i), "/opt/x.so\n");
  ASSERT_EQ(::mkfifo((dir / "a.icd").c_str(), 0600), 0);
  std::filesystem::create_symlink("b.icd", dir / "b.icd");
  const auto list = find_candidates({}, variables({{"OCL_ICD_VENDORS", dir.path()}}));
  EXPECT_EQ(list->icd_files.size(), 256u);
  EXPECT_THAT(list->icd_files.at(0).faults,
              ElementsAre(fault(IcdFaultKind::kUnreadable, "it is not a regular file")));
  EXPECT_THAT(read_icd_file(*view_of(""), dir / "b.icd").faults,
              ElementsAre(fault(IcdFaultKind::kUnreadable, "does not exist")));
}

}  // namespace
}  // namespace clvet
