#include "reports/render/diagnosis_device_words.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "reports/render/diagnosis_text.h"
#include "reports/render/html/diagnosis_page.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

PrecisionDiagnosis on_a_board() {
  PrecisionDiagnosis found;
  found.place = "Board <1>";
  found.inputs = {{"a", false}};
  found.plan.emplace();
  found.plan->right = true;
  found.broken = {{"n", "softmax/high", {}}};
  found.other_ways = {{"normal", "buffer", true, 0.01, 12.34}, {"low", "image", false, 1, 5}};
  found.measured = PlanTimes{1, 2, 4};
  return found;
}

TEST(DeviceWords, TellKernelsOtherWaysAndTimes) {
  EXPECT_THAT(
      device_words(on_a_board()),
      ElementsAre(
          "kernel softmax/high computes something else than the host at 'n', in float32, "
          "too: it is not used any more",
          "right on this device: precision normal, activations in buffer (12.3 ms)",
          "wrong on this device, too: precision low, activations in image (error 100 %)",
          "measured on Board <1>: 1 ms, with the cure 2 ms, with all nodes in float32 4 ms"));
}

TEST(DeviceWords, AreNotThereOnTheHost) { EXPECT_THAT(device_words({}), ElementsAre()); }

TEST(DeviceWords, AreOnThePage) {
  const std::string page = diagnosis_page(on_a_board());
  EXPECT_THAT(page, AllOf(HasSubstr("On the device"), HasSubstr("Board &lt;1&gt;")));
}

TEST(StoppedDiagnosis, DoesNotSayThatThePrecisionIsEnough) {
  PrecisionDiagnosis found;
  found.inputs = {{"a", true}};
  EXPECT_THAT(diagnosis_text(found), HasSubstr("precise enough"));
  found.stopped = Error{ErrorCode::kDeviceError, "gone"};
  for (const std::string& text : {diagnosis_text(found), diagnosis_page(found)})
    EXPECT_THAT(text, AllOf(HasSubstr("ended before its time"), Not(HasSubstr("precise enough"))));
}

}  // namespace
}  // namespace clvet
