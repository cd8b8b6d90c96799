#include <gmock/gmock.h>

#include "base/result.h"
#include "probe/discover/discover.h"
#include "probe/worker/worker_limits.h"

namespace clvet {
namespace {

TEST(Discovery, ThatCanTryNoLibraryIsAFaultAndNoMachineWithoutOpenCl) {
  DiscoverySettings settings;
  settings.libraries = {"/nonexistent/a.so", "/nonexistent/b.so"};
  settings.worker = WorkerSettings{"/nonexistent/clvet", {}, WorkerLimits{}, 0};
  const auto found = discover(settings);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInternal);
  EXPECT_THAT(found.error().message, testing::HasSubstr("/nonexistent/clvet"));
}

}  // namespace
}  // namespace clvet
