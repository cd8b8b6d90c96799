// The page of a diagnosis as a browser takes it in. tests/cli/diagnose_page.py runs its scripts.
#include "reports/render/html/diagnosis_page.h"
#include "runtime/graph/output_sign.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/language.h"
#include "base/text.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/float_fault.h"
#include "runtime/precision/normalise.h"
#include "runtime/precision/number_format.h"
#include "tests/reports/render/page_reader.h"
#include "tests/scoped_language.h"

namespace clvet {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kHostile[] = {"</script><script>alert(1)</script>",
                                "<!--<script>",
                                "\" onmouseover=\"alert(1)",
                                "' & \" \\ {} {0}",
                                "two\nlines\tand\rreturns",
                                "no\xFF text\x80\xC3",
                                std::string("a\0b\x1B", 4),
                                "turned \xE2\x80\xAE writing \xE2\x81\xA6 \xE2\x80\x8F",
                                ""};

DiagnosedOutput wrong_output(const std::string& name) {
  DiagnosedOutput output{name};
  output.deviation.add(std::vector<float>{0, 0}, std::vector<float>{1, 1});
  output.sign = OutputSign::kZero;
  return output;
}

DiagnosedNode node_of(const std::string& name, const std::string& op, int reads) {
  DiagnosedNode node{name, op, {reads}};
  const std::vector<float> exact{1, 1e6F}, low{1, 1e30F};
  node.floats = true;
  node.range.add(exact, NumberFormat::kHalf);
  node.isolated.add(low, exact);
  node.cumulative.add(low, exact);
  node.blame = Blame{PrecisionFault::kOverflow, FaultPlace::kOutput, name, 1e6};
  node.out_of_bounds = {0};
  return node;
}

// Where every name is `name`.
PrecisionDiagnosis diagnosis_of(const std::string& name) {
  PrecisionDiagnosis found;
  found.model = found.place = name;
  found.format = NumberFormat::kHalf;
  found.inputs = {{name, false, {wrong_output(name)}}};
  found.nodes = {{name + "shape", "Shape"}, node_of(name, name, 0), node_of(name + "2", name, 1)};
  found.origins = {{1, name, name, *found.nodes[1].blame, name + "1", 1, {name}, {}}};
  found.origins.push_back({-1, name, "", *found.nodes[1].blame, "", 1, {}, {0}});
  found.plan = PrecisionPlan{{name}};
  found.plan->after = {{name, true, {{name}}}};
  found.contrasts = {{name, found.nodes[1].range, found.nodes[1].range, 2, 1}};
  found.float_fault = FloatFault{name, name, true, false, 1, {0}};
  found.normalising = NormaliseTrials{{name}, {{NormaliseHow::kDivide, 255, true}}, 1};
  found.failing = FailingFiles{name, 1, {{name, name}}, {{name, name}}, name};
  found.plan->advice = {{name, name, true, name, name, {name, name}, {name}}};
  return found;
}

test::Page read(const std::string& page) {
  auto read = test::read_page(page);
  EXPECT_EQ(read.fault, "");
  return read;
}

// What stands between `from` and the next end of a script.
std::string script_after(const std::string& page, const std::string& from) {
  const size_t start = page.find(from) + from.size();
  return page.substr(start, page.find("</script>", start) - start);
}

Json data_of(const std::string& page) {
  return Json::parse(script_after(page, "id=\"data\">"), nullptr, false);
}

TEST(DiagnosisPage, TakesNoMarkupFromNames) {
  const auto plain = test::markup_of(read(diagnosis_page(diagnosis_of("name"))));
  for (const std::string& name : kHostile) {
    const std::string page = diagnosis_page(diagnosis_of(name));
    EXPECT_EQ(test::markup_of(read(page)), plain) << name;
    EXPECT_TRUE(is_utf8(page)) << name;
    for (const char* turn : {"\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x80\x8F"})
      EXPECT_THAT(page, Not(HasSubstr(turn)));
  }
}

TEST(DiagnosisPage, HandsNamesToItsScriptsWhole) {
  for (const std::string& name : kHostile) {
    const std::string page = diagnosis_page(diagnosis_of(name));
    EXPECT_THAT(script_after(page, "id=\"data\">"), Not(HasSubstr("<"))) << "no tag, no comment";
    const Json data = data_of(page);
    ASSERT_TRUE(data.is_object()) << name;
    ASSERT_EQ(data["nodes"].size(), 3u);
    EXPECT_EQ(data["nodes"][2]["reads"], Json::array({1}));
  }
  EXPECT_EQ(data_of(diagnosis_page(diagnosis_of(kHostile[0])))["nodes"][1]["name"], kHostile[0]);
}

TEST(DiagnosisPage, TellsItsScriptsTheRolesOfNodes) {
  const Json nodes = data_of(diagnosis_page(diagnosis_of("name")))["nodes"];
  EXPECT_FALSE(nodes[0].contains("range")) << "no float32 outputs";
  EXPECT_EQ(nodes[1]["origin"], true);
  EXPECT_EQ(nodes[1]["raised"], true);
  EXPECT_FALSE(nodes[2].contains("origin"));
  EXPECT_EQ(nodes[1]["range"]["overflows"], 1);
  EXPECT_THAT(nodes[1]["why"].get<std::string>(), HasSubstr("'name' reaches 1e+06"));
}

TEST(DiagnosisPage, SaysVerdictOriginAndCure) {
  const std::string text = read(diagnosis_page(diagnosis_of("name"))).text;
  EXPECT_THAT(text, AllOf(HasSubstr("error 100 %: all zero"), HasSubstr("origin: name 'name'"),
                          HasSubstr("origin: the input 'name'"), HasSubstr("keep 1 of 3 nodes")));
}

TEST(DiagnosisPage, SaysThatNothingIsWrong) {
  PrecisionDiagnosis fine = diagnosis_of("name");
  fine.origins.clear();
  fine.plan.reset();
  fine.float_fault.reset();
  fine.inputs[0].right = true;
  const auto page = read(diagnosis_page(fine));
  EXPECT_THAT(page.text, AllOf(HasSubstr("precise enough"), Not(HasSubstr("The cure"))));
  EXPECT_EQ(read(diagnosis_page({})).fault, "") << "not even a node";
}

TEST(DiagnosisPage, LetsABrowserRunItsOwnScriptsAloneAndFetchNothing) {
  const std::string text = diagnosis_page(diagnosis_of("name"));
  const auto page = read(text);
  std::string policy;
  for (const test::Tag& tag : page.tags) {
    EXPECT_EQ(tag.attributes.count("src"), 0u) << tag.name;
    EXPECT_NE(tag.name, "link");
    if (tag.attributes.count("http-equiv")) policy = tag.attributes.at("content");
  }
  EXPECT_THAT(page.style, AllOf(Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
  EXPECT_THAT(policy, AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("script-src 'unsafe"))));
  for (const char* beginning : {"/*\n", "\"use strict\""}) {
    const std::string script = beginning + script_after(text, std::string("<script>") + beginning);
    EXPECT_GT(script.size(), 5000u);
    EXPECT_THAT(policy, HasSubstr("'sha256-" + test::base64_of_hex(sha256_hex(script)) + "'"));
  }
  EXPECT_THAT(text, HasSubstr("Copyright (c) 2012-2014 Chris Pettitt"))
      << "as dagre's licence asks";
}

TEST(DiagnosisPage, SpeaksChinese) {
  const test::ScopedLanguage chinese(Language::kChinese);
  const std::string text = diagnosis_page(diagnosis_of("name"));
  EXPECT_THAT(read(text).text, AllOf(HasSubstr("解决办法"), Not(HasSubstr("The network"))));
  EXPECT_EQ(data_of(text)["labels"]["origin"], "根源");
}

}  // namespace
}  // namespace clvet
