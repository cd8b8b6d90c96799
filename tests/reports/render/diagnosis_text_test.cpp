#include "reports/render/diagnosis_text.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/precision/blame.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/normalise.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;

PrecisionDiagnosis diagnosis() {
  PrecisionDiagnosis found;
  found.inputs = {{"good", true}, {"bad", false}};
  found.nodes = {{"n", "Mul"}};
  found.origins = {{0, "n", "Mul", Blame{PrecisionFault::kOverflow}, "", 1, {"n"}, {1}}};
  found.contrasts = {{"x", {}, {}, 400, 20}};
  found.normalising = NormaliseTrials{{"x"}, {{NormaliseHow::kDivide, 512, true}}, 1};
  found.plan = PrecisionPlan{{"n"}};
  found.plan->advice = {{"e", "Engine", true, "Do it.", "做。", {"set n"}, {}}};
  found.failing = FailingFiles{"dir/failing.onnx", 1, {}, {}, "clvet diagnose dir/failing.onnx"};
  return found;
}

TEST(DiagnosisText, GoesFromTheInputsToTheOriginTheCureAndOtherEngines) {
  const std::string text = diagnosis_text(diagnosis());
  size_t at = 0;
  for (const char* part :
       {"bad", "origin: Mul 'n'", "with 1 of 2 inputs", "'x' reaches 400 or more", "divided by 512",
        "cure: keep 1 of 1 nodes", "the failing part (nodes: 1): dir/failing.onnx\n  run it with:",
        "in other engines:\n  Engine: these nodes alone\n    Do it.\n      set n\n"}) {
    const size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " is missing, or too early, in\n" << text;
    at = found;
  }
}

TEST(DiagnosisText, SaysNoMoreWhereAllInputsAreRight) {
  PrecisionDiagnosis found;
  found.inputs = {{"good", true}};
  found.format = NumberFormat::kHalf;
  EXPECT_THAT(diagnosis_text(found), HasSubstr("half is precise enough"));
  EXPECT_THAT(diagnosis_text(found), Not(HasSubstr("engines")));
}

}  // namespace
}  // namespace clvet
