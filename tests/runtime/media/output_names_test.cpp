#include "runtime/media/output_names.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace clvet {
namespace {

using testing::ElementsAre;

TEST(OutputNames, KeepWhatAFileNameMayHold) {
  EXPECT_THAT(npy_names({"scores", "a-b_0"}), ElementsAre("scores.npy", "a-b_0.npy"));
}

TEST(OutputNames, StayApartWhereTheirLettersFallTogether) {
  EXPECT_THAT(npy_names({"a/b:0", "a_b_0", "A_B_0", "a_b_0-2"}),
              ElementsAre("a_b_0.npy", "a_b_0-2.npy", "A_B_0-3.npy", "a_b_0-2-2.npy"));
}

TEST(OutputNames, AreBoundedAndNeverEmptyOrAPath) {
  const std::vector<std::string> names =
      npy_names({"", "../../etc/passwd", std::string(300, 'x'), std::string(301, 'x')});
  EXPECT_THAT(names, ElementsAre("_.npy", "______etc_passwd.npy", std::string(100, 'x') + ".npy",
                                 std::string(100, 'x') + "-2.npy"));
}

}  // namespace
}  // namespace clvet
