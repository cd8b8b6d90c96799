// The page as a browser takes it in: what is markup, what is text, what is shown.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/language.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "reports/render/html/page.h"
#include "tests/probe/samples.h"
#include "tests/reports/render/page_reader.h"
#include "tests/scoped_language.h"

namespace clvet {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHostile =
    "</pre></script></style></title><script>alert(1)</script><img src=x onerror='alert(2)'>"
    "\" autofocus onfocus=\"alert(3)\" javascript:alert(4) &lt;b&gt; \xE2\x80\xAE";

test::Page read(const std::string& page) {
  auto read = test::read_page(page);
  EXPECT_EQ(read.fault, "");
  return read;
}

test::Page page_of(const Report& report) { return read(html_page({{"board.json", report}})); }

// Calls `visit` for each string in the document that may hold anything, not only a word of a list.
template <class Visit>
void each_free_string(Json& root, Json& at, const Visit& visit) {
  for (auto& [name, field] : at.items()) {
    if (field.is_structured()) each_free_string(root, field, visit);
    if (!field.is_string()) continue;
    const Json old = field;
    field = kHostile;
    if (report_from_json(root.dump(), "board.json")) visit(field, old);
    field = old;
  }
}

TEST(HtmlPage, OfASampleIsWellFormedAndHasNothingToFetch) {
  const auto page = page_of(test::sample_report());
  for (const test::Tag& tag : page.tags) {
    EXPECT_EQ(tag.attributes.count("src"), 0u) << tag.name;
    EXPECT_NE(tag.name, "link");
    if (tag.attributes.count("href")) {
      const std::string& where = tag.attributes.at("href");
      EXPECT_TRUE(where.starts_with("#") || where.starts_with("https://")) << where;
    }
  }
  EXPECT_THAT(page.style, Not(HasSubstr("url(")));
  EXPECT_THAT(page.style, Not(HasSubstr("@import")));
}

// The tags of one name, in order.
std::vector<test::Tag> tags_named(const test::Page& page, const std::string& name) {
  std::vector<test::Tag> found;
  for (const test::Tag& tag : page.tags) {
    if (tag.name == name) found.push_back(tag);
  }
  return found;
}

// Where the links that leave the page lead.
std::vector<std::string> addresses_of(const test::Page& page) {
  std::vector<std::string> found;
  for (const test::Tag& tag : tags_named(page, "a")) {
    if (!tag.attributes.at("href").starts_with("#")) found.push_back(tag.attributes.at("href"));
  }
  return found;
}

TEST(HtmlPage, MakesLinksOfAddressesAndOfNothingElse) {
  Report report = test::sample_report();
  report.advice = {
      {"a",
       "see https://cause.example",
       {"(https://a.example/x?y=1&z=2#p)."},
       {"read https://b.example/d, then http://c.example, javascript:alert(1), https://",
        "https://e.example/\"onclick=alert(1)", "https://" + std::string(9000, 'x')},
       "en"}};
  EXPECT_THAT(addresses_of(page_of(report)),
              testing::ElementsAre("https://b.example/d", "https://e.example/",
                                   "https://a.example/x?y=1&z=2#p"));
}

TEST(HtmlPage, FoldsKnownIssuesAndPutsThoseThatDoNotShowHereLast) {
  Report report = test::sample_report();
  report.advice = {{"known-refuted-d0", "the refuted", {}, {}, "en"},
                   {"known-seen-d0", "the seen", {}, {"a cure"}, "en"},
                   {"other", "the plain advice", {}, {"do this"}, "en"}};
  const auto page = page_of(report);
  const auto place = [&](const char* text) { return page.text.find(text); };
  EXPECT_LT(place("the plain advice"), place("Known issues of such drivers: 2, of which 1"));
  EXPECT_LT(place("Known issues"), place("the seen"));
  EXPECT_LT(place("the seen"), place("the refuted"));
  size_t folds = 0;
  for (const test::Tag& tag : tags_named(page, "details")) {
    const auto style = tag.attributes.find("class");
    if (style == tag.attributes.end() || style->second != "advice kind") continue;
    ++folds;
    EXPECT_EQ(tag.attributes.count("open"), 0U);
  }
  EXPECT_EQ(folds, 2U);
}

TEST(HtmlPage, ShowsSpeedsAsBarsBesideTheGreatestOfTheOperation) {
  Report report = test::sample_report();
  DeviceReport& device = report.devices[0];
  device.combinations.resize(1);
  device.combinations.push_back(device.combinations[0]);
  device.combinations[0].speed = {{"gemm", 100}, {"gemv", 0}};
  device.combinations[1].speed = {{"gemm", 25}};
  std::vector<std::string> widths;
  for (const test::Tag& tag : tags_named(page_of(report), "rect"))
    widths.push_back(tag.attributes.at("width"));
  EXPECT_THAT(widths, testing::ElementsAre("100.0", "0.0", "25.0"));
}

TEST(HtmlPage, PutsAPrecisionLastOfWhichNothingIsSupported) {
  Report report = test::sample_report();
  const auto order = [&] {
    const std::string text = page_of(report).text;
    return text.find("half-precision storage and arithmetic") <
           text.find("float storage and arithmetic");
  };
  VerdictReport low = test::sample_verdict(Verdict::kPass), high = low;
  low.combination.precision = Precision::kLow;
  high.combination.precision = Precision::kHigh;
  report.verdicts = {low, high};
  EXPECT_TRUE(order());
  report.verdicts[0].verdict = Verdict::kUnsupported;
  EXPECT_FALSE(order());
}

TEST(HtmlPage, LeadsEachLinkToAnAnchorAndNamesEachAnchorOnce) {
  Report report = test::sample_report();
  report.devices.push_back(test::sample_device());
  report.devices[1].id = "d1";
  report.verdicts.push_back(test::sample_verdict(Verdict::kWrong));
  report.verdicts.back().device = "d1";
  const auto page = read(html_page({{"a.json", report}, {"b.json", report}}));
  std::multiset<std::string> anchors;
  for (const test::Tag& tag : page.tags) {
    if (tag.attributes.count("id")) anchors.insert(tag.attributes.at("id"));
  }
  int links = 0;
  for (const test::Tag& tag : page.tags) {
    const auto href = tag.attributes.find("href");
    if (href == tag.attributes.end() || !href->second.starts_with("#")) continue;
    ++links;
    EXPECT_EQ(anchors.count(tag.attributes.at("href").substr(1)), 1u) << tag.attributes.at("href");
  }
  EXPECT_GT(links, 20);
  for (const std::string& name : anchors) EXPECT_EQ(anchors.count(name), 1u) << name;
}

TEST(HtmlPage, TakesNoMarkupFromAnyStringOfTheReport) {
  Json json = Json::parse(report_to_json(test::sample_report()));
  // What a longer text may change: which parts are there at all.
  const auto shown = test::markup_of(page_of(test::sample_report()));
  std::set<std::string> known(shown.begin(), shown.end());
  known.insert("wbr");  // which names with a '_' have
  int tried = 0;
  each_free_string(json, json, [&](const Json&, const Json& old) {
    ++tried;
    const auto report = report_from_json(json.dump(), "board.json");
    const auto page = page_of(*report);
    for (const std::string& tag : test::markup_of(page))
      EXPECT_EQ(known.count(tag), 1u) << tag << old;
    EXPECT_EQ(std::count_if(page.tags.begin(), page.tags.end(),
                            [](const test::Tag& tag) { return tag.name == "script"; }),
              1)
        << old;
  });
  EXPECT_GT(tried, 50) << "the report's strings";
}

TEST(HtmlPage, TakesNoMarkupFromNamesOfMembersAndFiles) {
  Report report = test::sample_report();
  DeviceReport& device = report.devices[0];
  device.properties[kHostile] = {"1", 0};
  device.capabilities[kHostile] = {true, CapabilityVerdict::kFalse, kHostile};
  device.variables[kHostile] = kHostile;
  device.combinations[0].speed[kHostile] = 1;
  report.host.env[kHostile] = kHostile;
  report.run.counts[kHostile] = 1;
  const auto page = read(html_page({{kHostile, report}, {kHostile, report}}));
  for (const test::Tag& tag : page.tags) {
    EXPECT_NE(tag.name, "img");
    EXPECT_EQ(tag.attributes.count("onfocus"), 0u);
  }
  EXPECT_THAT(page.text, HasSubstr("<script>alert(1)</script>")) << "shown as what it is";
  EXPECT_THAT(page.text, Not(HasSubstr("\xE2\x80\xAE"))) << "turns the direction of writing";
}

TEST(HtmlPage, ReplacesBytesThatAreNoText) {
  Report report = test::sample_report();
  report.devices[0].name = std::string("Mali\0\xFF\x1B\x80", 8);
  EXPECT_THAT(page_of(report).text,
              HasSubstr("Mali\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
}

TEST(HtmlPage, LetsABrowserRunItsOwnScriptAlone) {
  const auto page = page_of(test::sample_report());
  std::string policy;
  for (const test::Tag& tag : page.tags) {
    const auto name = tag.attributes.find("http-equiv");
    if (name != tag.attributes.end()) policy = tag.attributes.at("content");
  }
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("script-src 'unsafe")));
  EXPECT_THAT(policy, HasSubstr("'sha256-" + test::base64_of_hex(sha256_hex(page.script)) + "'"));
}

TEST(HtmlPage, SaysWhatToUseAndWhatFailed) {
  const std::string text = page_of(test::sample_report()).text;
  EXPECT_THAT(text, HasSubstr("Use precision high, memory normal, activations buffer"));
  EXPECT_THAT(text, HasSubstr("crash in build: 1"));
  EXPECT_THAT(text, HasSubstr("The capability map_read is wrong: lie"));
  Report none = test::sample_report();
  none.devices[0].best.reset();
  EXPECT_THAT(page_of(none).text, HasSubstr("No combination passed every test."));
}

TEST(HtmlPage, ShowsTheEvidenceOfWhatFailed) {
  const std::string text = page_of(test::sample_report()).text;
  for (const char* part : {"clBuildProgram, signal 6, exit status 0, OpenCL error -5", "a log",
                           "LLVM ERROR: Cannot select: intrinsic %llvm.bifrost.2586", "a note",
                           "half_arith, int_to_half", "int4/odd", "1.5", "0.25"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(HtmlPage, ShowsEveryOtherPartOfTheReport) {
  const std::string text = page_of(test::sample_report()).text;
  for (const char* part : {"libx.so",
                           "missing-dependency",
                           "why",
                           "has CR LF line ends",
                           "ocl-icd 2.3.1",
                           "mali_kbase",
                           "/dev/mali0",
                           "$LD_LIBRARY_PATH",
                           "CL_DEVICE_LOCAL_MEM_SIZE",
                           "32768",
                           "query failed: -30",
                           "cl_khr_fp16",
                           "deadbeef",
                           "$POCL_DEVICES",
                           "kernels",
                           "2026-11-21T09:42:59Z",
                           "gemm*",
                           "glibc 2.36",
                           "1.5, of which 1.2 in driver calls",
                           "also via libOpenCL.so.1"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(HtmlPage, GivesAdviceInTheLanguageOfTheProcessAlone) {
  Report report = test::sample_report();
  report.advice = {{"a", "cause of a", {"shown once"}, {"fix a"}, "en"},
                   {"a", "原因", {"shown once"}, {"办法"}, "zh"}};
  const std::string english = page_of(report).text;
  EXPECT_THAT(english, AllOf(HasSubstr("fix a"), HasSubstr("shown once"), Not(HasSubstr("办法"))));
  const test::ScopedLanguage chinese(Language::kChinese);
  EXPECT_THAT(page_of(report).text, AllOf(HasSubstr("办法"), Not(HasSubstr("fix a"))));
}

TEST(HtmlPage, IsInTheLanguageOfTheProcess) {
  const auto language_of = [](const test::Page& page) {
    return page.tags.at(0).attributes.at("lang");
  };
  EXPECT_EQ(language_of(page_of(test::sample_report())), "en");
  const test::ScopedLanguage chinese(Language::kChinese);
  const auto page = page_of(test::sample_report());
  EXPECT_EQ(language_of(page), "zh");
  for (const char* text : {"请使用精度 high", "编译阶段崩溃", "设备属性", "误差界", "缺少依赖"})
    EXPECT_THAT(page.text, HasSubstr(text));
  for (const test::Tag& tag : page.tags) {
    if (tag.name != "nav") continue;
    EXPECT_EQ(tag.attributes.at("data-open"), "全部展开");
    EXPECT_EQ(tag.attributes.at("data-close"), "全部折叠");
  }
}

TEST(HtmlPage, HeadsEveryRowAndColumnOfItsTables) {
  const auto page = page_of(test::sample_report());
  int headings = 0;
  for (const test::Tag& tag : page.tags) {
    if (tag.name != "th") continue;
    ++headings;
    EXPECT_EQ(tag.attributes.count("scope"), 1u);
  }
  EXPECT_GT(headings, 30);
}

TEST(HtmlPage, SaysWhereThereIsNoDeviceOrTheProbeWasCutShort) {
  Report report;
  EXPECT_THAT(page_of(report).text, HasSubstr("No OpenCL device was found"));
  report.complete = false;
  EXPECT_THAT(page_of(report).text, HasSubstr("was stopped early"));
  report.run.only_cases = {"gemm"};
  EXPECT_THAT(page_of(report).text, HasSubstr("only the cases asked for"));
}

class LargePage : public testing::Test {
 protected:
  // Every one fails, each with a text of its own.
  static Report failing(int count, size_t text_bytes) {
    Report report = test::sample_report();
    report.verdicts.clear();
    for (int i = 0; i < count; ++i) {
      VerdictReport row = test::sample_verdict();
      row.kernel = "gemm_" + std::to_string(i % 40);
      row.case_name = row.kernel + "/case-" + std::to_string(i);
      row.combination.precision = i % 2 ? Precision::kHigh : Precision::kNormal;
      row.evidence.log = std::to_string(i) + std::string(text_bytes, '<');
      row.evidence.stderr_text = row.evidence.log;
      report.verdicts.push_back(row);
    }
    return report;
  }
};

TEST_F(LargePage, OfTwoThousandVerdictsStaysBelowTwoMegabytes) {
  for (const size_t text_bytes : {size_t{0}, size_t{500}, size_t{50'000}}) {
    const std::string page = html_page({{"board.json", failing(2000, text_bytes)}});
    EXPECT_LT(page.size(), 2'000'000u) << text_bytes;
    read(page);
  }
}

TEST_F(LargePage, NamesTheEvidenceThatItLeavesOut) {
  const std::string whole = page_of(failing(20, 100)).text;
  EXPECT_THAT(whole, Not(HasSubstr("left out here")));
  const std::string page = html_page({{"board.json", failing(2000, 50'000)}});
  EXPECT_THAT(page, HasSubstr("left out here; report.json has it"));
  for (int i = 0; i < 40; ++i)
    EXPECT_THAT(page, HasSubstr(fmt::format("<code>gemm_{}</code> <code>", i)));
}

TEST_F(LargePage, CountsWhatIsRightInsteadOfListingIt) {
  Report few = failing(40, 0), many = failing(4000, 0);
  for (Report* report : {&few, &many}) {
    for (VerdictReport& row : report->verdicts) row.verdict = Verdict::kPass;
  }
  const std::string page = html_page({{"board.json", many}});
  EXPECT_LT(page.size(), html_page({{"board.json", few}}).size() + 2000);
  EXPECT_THAT(page, Not(HasSubstr("case-1")));
}

}  // namespace
}  // namespace clvet
