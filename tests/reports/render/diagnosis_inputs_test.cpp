#include "reports/render/diagnosis_inputs.h"

#include <gmock/gmock.h>

#include <vector>

#include "runtime/precision/contrast.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/normalise.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RangeContrast contrast(float failing, float passing) {
  RangeContrast row{"x"};
  row.failing.add(std::vector<float>{-1, failing}, NumberFormat::kHalf);
  row.passing.add(std::vector<float>{0, passing}, NumberFormat::kHalf);
  row.least_failing = failing;
  row.most_passing = passing;
  return row;
}

TEST(ContrastWords, NameTheBorderWhereThereIsOne) {
  PrecisionDiagnosis diagnosis;
  diagnosis.contrasts = {contrast(400, 20), contrast(7, 8)};
  EXPECT_THAT(
      contrast_words(diagnosis),
      ElementsAre("'x' reaches 400 or more with inputs that fail, 20 at most with those that pass",
                  "'x' does not tell inputs that fail (-1 to 7) from those that pass (0 to 8) by "
                  "its size"));
}

TEST(NormaliseWords, NameTheFirstWayThatIsRight) {
  PrecisionDiagnosis diagnosis;
  EXPECT_THAT(normalise_words(diagnosis), IsEmpty());
  diagnosis.normalising = NormaliseTrials{{"x", "z"}, {}, 1};
  diagnosis.normalising->tried = {{NormaliseHow::kDivide, 255, false},
                                  {NormaliseHow::kStandardise, 1, true},
                                  {NormaliseHow::kDivide, 512, true}};
  EXPECT_THAT(normalise_words(diagnosis),
              ElementsAre("with 'x', 'z' at mean 0 and variance 1 the outputs are right: if the "
                          "model was trained on such values, normalise its input"));
}

TEST(NormaliseWords, SayThatNoneHelps) {
  PrecisionDiagnosis diagnosis;
  diagnosis.normalising = NormaliseTrials{{"x"}, {}, 1};
  diagnosis.normalising->tried = {{NormaliseHow::kDivide, 255, false},
                                  {NormaliseHow::kCentre, 1, false}};
  EXPECT_THAT(normalise_words(diagnosis),
              ElementsAre("normalising 'x' does not cure it; tried: divided by 255, as (x - 127.5) "
                          "/ 127.5"));
}

}  // namespace
}  // namespace clvet
