#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "probe/report/report.h"
#include "reports/render/bug_summary.h"
#include "reports/render/redact.h"
#include "tests/probe/samples.h"
#include "tests/scoped_language.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  lines.pop_back();  // behind the last line's end
  return lines;
}

TEST(BugSummary, HasTenLinesWithWhatABugReportNeeds) {
  const std::vector<std::string> lines = lines_of(bug_summary(test::sample_report(), {}));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_THAT(lines[0], StartsWith("tool: clvet 0.1.0"));
  EXPECT_THAT(lines[3], HasSubstr("/dev/mali0; kernel drivers: mali_kbase"));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("ocl-icd, 2.3.1"),
                              HasSubstr("mali.icd -> libmali.so (has CR LF line ends)")));
  EXPECT_THAT(lines[5], HasSubstr("libmali.so.1 usable; libx.so missing-dependency"));
  EXPECT_THAT(lines[6],
              HasSubstr("d0 Mali-G78 r0p1 (gpu, ARM Platform, 3.0, OpenCL 3.0 v1.r32p1)"));
  EXPECT_THAT(lines[7], HasSubstr("d0 high/normal/buffer/buffer"));
  EXPECT_THAT(lines[8], HasSubstr("1 x gemm crash in build (signal 6)"));
  EXPECT_THAT(lines[9], HasSubstr("mali-quant"));
}

TEST(BugSummary, HasTenLinesOfAnEmptyAndOfAHugeReport) {
  EXPECT_EQ(lines_of(bug_summary(Report{}, {})).size(), 10u);
  Report report = test::sample_report();
  for (int i = 0; i < 300; ++i) {
    report.devices.push_back(test::sample_device());
    report.candidates.push_back(report.candidates.front());
    report.host.nodes.push_back({"/dev/dri/renderD" + std::to_string(i)});
    report.host.env["V" + std::to_string(i)] = std::string(500, 'x') + "\n";
  }
  report.host.board = "a\nb\r\nc";
  const std::vector<std::string> lines = lines_of(bug_summary(report, {}));
  ASSERT_EQ(lines.size(), 10u);
  for (const std::string& line : lines) EXPECT_LT(line.size(), 400u);
}

TEST(BugSummary, IsInTheLanguageOfTheProcess) {
  const test::ScopedLanguage chinese(Language::kChinese);
  const std::vector<std::string> lines = lines_of(bug_summary(test::sample_report(), {}));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_THAT(lines[0], StartsWith("工具: clvet 0.1.0"));
  EXPECT_THAT(lines[5], HasSubstr("libmali.so.1 可用; libx.so 缺少依赖"));
  EXPECT_THAT(lines[8], HasSubstr("1 x gemm 编译阶段崩溃 (信号 6)"));
}

class PrivateBugSummary : public testing::TestWithParam<Language> {
 private:
  const test::ScopedLanguage language_{GetParam()};
};

// No letter of a language may hide a name from the search for it.
TEST_P(PrivateBugSummary, NamesNoUserNoHostNoSerialAndNoHome) {
  Report report = test::sample_report();
  report.host.board = "Radxa ROCK 5B serial: RA5BX77231";
  report.host.cpu = "Cortex of workshop-pi";
  report.host.os = "Debian of marta.example@mail.org";
  report.host.env = {{"LD_LIBRARY_PATH", "/home/marta/secret/lib:/usr/lib:/opt/acme"},
                     {"OCL_ICD_VENDORS", "/root/icd"}};
  report.candidates[0].name = "/home/marta/build/libOpenCL.so";
  report.icd_files[0].path = "/home/marta/vendors/mali.icd";
  report.icd_files[0].target = "/data/user/0/com.marta.app/libmali.so";
  report.loader.path = "/home/marta/lib/libOpenCL.so.1";
  report.devices[0].name = "GPU of marta 12:34:56:78:9a:bc";
  report.devices[0].driver = "1.0 9f8e7d6c-1234-5678-9abc-def012345678";
  report.verdicts[0].evidence.stderr_text = "printed by Marta";
  report.verdicts[0].evidence.log = "log of Marta";
  report.host.container = "marta";
  report.icd_files[0].faults = {{IcdFaultKind::kOther, "names 'marta', which is no library"}};
  const std::string text = bug_summary(report, {"workshop-pi", "w"});
  for (const char* word : {"marta", "Marta", "workshop", "RA5BX77231", "/home", "/root", "secret",
                           "9a:bc", "9f8e7d6c", "/data", "mail.org", "/opt"})
    EXPECT_THAT(text, Not(HasSubstr(word)));
  EXPECT_THAT(
      text, AllOf(HasSubstr("Radxa ROCK 5B"), HasSubstr(".../libOpenCL.so "), HasSubstr("/usr/lib"),
                  HasSubstr("mali.icd -> .../libmali.so"), HasSubstr("OCL_ICD_VENDORS=.../icd")));
}

INSTANTIATE_TEST_SUITE_P(Languages, PrivateBugSummary,
                         testing::Values(Language::kEnglish, Language::kChinese));

TEST(Redactor, KeepsThePathsOfTheSystem) {
  const Redactor redact({});
  for (const char* text :
       {"/usr/lib/aarch64-linux-gnu/libmali.so.1", "/dev/mali0", "/etc/OpenCL/vendors/mali.icd",
        "/vendor/lib64/libOpenCL.so", "1/2 and 3 / 4", "OpenCL 3.0 v1.r32p1", "~"})
    EXPECT_EQ(redact(text), text);
}

TEST(Redactor, FindsPathsWhereverTheyStand) {
  const Redactor redact({});
  EXPECT_EQ(redact("dlopen(/home/x/y.so): /tmp/z/a b"), "dlopen(.../y.so): .../a b");
  EXPECT_EQ(redact("file:///home/anna/y.so"), "file:.../y.so");
  EXPECT_EQ(redact("in /home/anna"), "in ...");
  EXPECT_EQ(redact("/usr/lib/../../home/anna/y.so"), ".../y.so");
  EXPECT_EQ(redact("~anna/x/y.so"), ".../y.so");
}

TEST(Redactor, RemovesWordsAsWordsAndLeavesCommonOnes) {
  const Redactor redact({"anna", "ro", "linux", "Root"});
  EXPECT_EQ(redact("Anna, anna-pc, joanna, annas"), "(removed), (removed)-pc, joanna, annas");
  EXPECT_EQ(redact("a linux root in rows"), "a linux root in rows");
}

TEST(Redactor, TakesANameApartFromWhatIsTiedToItByALowLine) {
  EXPECT_EQ(Redactor({"anna"})("6.1.0-anna_build"), "6.1.0-(removed)_build");
}

TEST(Redactor, RemovesWhatFollowsTheManyWordsForASerialNumber) {
  for (const char* text :
       {"serial: A1B2", "Serial Number A1B2", "serial_number=A1B2", "serial-no:A1B2",
        "androidboot.serialno=A1B2", "S/N A1B2", "SN:A1B2", "IMEI 35A1B2"})
    EXPECT_THAT(Redactor({})(text), Not(HasSubstr("A1B2"))) << text;
}

TEST(Redactor, RemovesNetworkAddressesAndKeepsVersions) {
  const Redactor redact({});
  for (const char* text : {"192.168.7.21", "10.0.3.4", "172.16.0.9", "81.2.69.142:7000",
                           "2001:db8:0:0:0:ff00:42:8329"})
    EXPECT_EQ(redact(text), "(removed)") << text;
  for (const char* text : {"24.35.30872.22", "535.183.01", "1.3.8.5", "6.4.3.9", "10.18.10.5161"})
    EXPECT_EQ(redact(text), text);
}

TEST(BugSummary, TakesPathsWithBlanksAndBracketsAsWholes) {
  Report report = test::sample_report();
  report.icd_files[0].target = "/home/John Doe/secret (old)/libmali.so";
  report.candidates[0].name = "/srv/my project, v2/libOpenCL.so";
  report.loader.path = "/home/John Doe";
  report.host.env = {{"LD_LIBRARY_PATH", "/usr/lib:/opt/Acme Inc/lib:/scratch/users/mia"}};
  const std::string text = bug_summary(report, {});
  for (const char* word : {"John", "Doe", "secret", "old", "project", "v2", "Acme", "Inc", "mia"})
    EXPECT_THAT(text, Not(HasSubstr(word)));
  EXPECT_THAT(text,
              AllOf(HasSubstr("mali.icd -> .../libmali.so"), HasSubstr(".../libOpenCL.so usable"),
                    HasSubstr("LD_LIBRARY_PATH=/usr/lib:.../lib:...")));
}

TEST(Redactor, MakesOneLineOfWhateverItGets) {
  const Redactor redact({"anna"});
  EXPECT_EQ(redact("a\nb"), redact("a\nb"));
  EXPECT_EQ(redact(std::string(100000, '/')).find('\n'), std::string::npos);
  EXPECT_LT(redact(std::string(100000, 'a')).size(), 5000u);
  EXPECT_TRUE(is_utf8(redact("\xff\xfe /home/\xc3\xa4/x")));
}

TEST(NamesInPaths, AreThoseOfHomes) {
  Report report;
  report.host.env = {{"A", "-I/home/anna/x:/home/bob"}};
  report.loader.path = "/Users/eve/lib";
  EXPECT_THAT(names_in_paths(report), testing::UnorderedElementsAre("anna", "bob", "eve"));
}

}  // namespace
}  // namespace clvet
