#include "reports/render/run_text.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>

#include "base/text.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TopText, ListsNanBeforeTheLargestValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores = Tensor::of<float>({1, 7}, {1, nan, 5, 2, nan, 9, 3});
  const auto lines = split(top_text({{"y", scores}}, 4), '\n');
  EXPECT_THAT(lines, ElementsAre(HasSubstr("f32[1,7]"), HasSubstr("nan"), HasSubstr("nan"),
                                 HasSubstr("class 5"), HasSubstr("class 2"), ""));
}

}  // namespace
}  // namespace clvet
