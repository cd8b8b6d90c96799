#include "reports/render/diagnosis_csv.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "runtime/precision/blame.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

PrecisionDiagnosis with_node(const std::string& name, const std::string& op) {
  PrecisionDiagnosis found;
  found.nodes.push_back({name, op});
  return found;
}

// The one line below the header.
std::string row_of(const std::string& name, const std::string& op = "Mul") {
  const std::string table = diagnosis_csv(with_node(name, op));
  return table.substr(table.find('\n') + 1);
}

TEST(DiagnosisCsv, BeginsWithAHeader) {
  EXPECT_THAT(diagnosis_csv({}), StartsWith("name,op,least,greatest,"));
}

TEST(DiagnosisCsv, QuotesWhatASeparatorOrAQuoteStandsIn) {
  EXPECT_EQ(row_of("plain"), "plain,Mul,,,,,,,,,,,,\n");
  EXPECT_EQ(row_of("a,b"), "\"a,b\",Mul,,,,,,,,,,,,\n");
  EXPECT_EQ(row_of("a\"b"), "\"a\"\"b\",Mul,,,,,,,,,,,,\n");
}

TEST(DiagnosisCsv, KeepsANodeOnOneLine) {
  EXPECT_EQ(row_of("a\nb\tc"), "a b c,Mul,,,,,,,,,,,,\n");
  EXPECT_EQ(row_of("a\xFF"), "a\xEF\xBF\xBD,Mul,,,,,,,,,,,,\n");
}

TEST(DiagnosisCsv, MakesNoFormulaOfAName) {
  EXPECT_EQ(row_of("=1+2"), "'=1+2,Mul,,,,,,,,,,,,\n");
  EXPECT_EQ(row_of("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\",Mul,,,,,,,,,,,,\n");
  for (const char* name : {"+1", "-1", "@SUM", "\t=1", "\n=1", " @x"})
    EXPECT_THAT(row_of(name), StartsWith("'")) << name;
  EXPECT_THAT(row_of("a", "=op"), HasSubstr("a,'=op"));
}

TEST(DiagnosisCsv, HasTheRangeTheErrorsAndTheBlame) {
  PrecisionDiagnosis found = with_node("n", "Mul");
  DiagnosedNode& node = found.nodes[0];
  node.floats = true;
  const std::vector<float> exact{-1, 2}, low{-1, 3},
      lost{-1, std::numeric_limits<float>::infinity()};
  node.range.add(exact, NumberFormat::kHalf);
  node.isolated.add(low, exact);
  node.cumulative.add(lost, exact);
  node.blame = Blame{PrecisionFault::kOverflow, FaultPlace::kInput, "-x"};
  EXPECT_THAT(diagnosis_csv(found),
              HasSubstr("n,Mul,-1,2,1,2,0,0,0,0.447214,inf,overflow,input,'-x\n"))
      << "a number that is below zero stays a number";
}

}  // namespace
}  // namespace clvet
