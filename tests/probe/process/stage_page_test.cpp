#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "tests/support.h"

namespace clvet {
namespace {

TEST(StagePage, TellsTheCallInFlightAndForgetsItAtItsEnd) {
  const auto view = StageView::anonymous();
  ASSERT_TRUE(view);
  ASSERT_TRUE(StageMarker::attach(view->fd()));
  EXPECT_EQ(view->read().stage, std::nullopt);
  {
    const StageMarker marker(Stage::kBuild, "clBuildProgram");
    EXPECT_EQ(view->read().stage, Stage::kBuild);
    EXPECT_EQ(view->read().call, "clBuildProgram");
    EXPECT_TRUE(view->read().build_clock);
  }
  EXPECT_EQ(view->read().stage, std::nullopt);
  EXPECT_EQ(view->read().sequence, 2u);
  const StageMarker launch(Stage::kEnqueue, "clEnqueueNDRangeKernel");
  EXPECT_FALSE(view->read().build_clock);
}

TEST(StagePage, GivesAFirstLaunchTheBuildsClock) {
  const auto view = StageView::anonymous();
  ASSERT_TRUE(StageMarker::attach(view->fd()));
  const StageMarker marker(Stage::kFinish, "clFinish", true);
  EXPECT_TRUE(view->read().build_clock);
}

TEST(StagePage, InAFileOutlivesItsWriter) {
  const test::TempDir dir;
  {
    const auto view = StageView::create(dir / "stage");
    ASSERT_TRUE(view);
    ASSERT_TRUE(StageMarker::attach(view->fd()));
    StageMarker::set_careful(true);
    const StageMarker marker(Stage::kMap, "clEnqueueMapBuffer");
    std::filesystem::copy(dir / "stage", dir / "left");
    StageMarker::set_careful(false);
  }
  const StageSnapshot left = StageView::left_behind(dir / "left");
  EXPECT_EQ(left.stage, Stage::kMap);
  EXPECT_EQ(left.call, "clEnqueueMapBuffer");
}

TEST(StagePage, OfWhatIsNoPageIsEmpty) {
  const test::TempDir dir;
  EXPECT_EQ(StageView::left_behind(dir / "none").stage, std::nullopt);
  for (const std::string& text :
       {std::string(), std::string(100, 'x'), std::string(4096, 'x'), std::string(4096, '\xFF')}) {
    test::put(dir / "stage", text);
    EXPECT_EQ(StageView::left_behind(dir / "stage").stage, std::nullopt);
  }
}

TEST(StagePage, WithEveryFieldGarbageIsReadWithoutHarm) {
  const test::TempDir dir;
  std::string page(4096, '\xC3');
  const uint32_t magic = StagePage::kMagic;
  std::memcpy(page.data(), &magic, sizeof magic);
  test::put(dir / "stage", page);
  const StageSnapshot left = StageView::left_behind(dir / "stage");
  EXPECT_EQ(left.stage, std::nullopt) << "no such stage";
  EXPECT_EQ(left.call.find('\xC3'), std::string::npos) << "text is made valid";
}

TEST(StagePage, WhereNoFileCanBeMadeSaysSo) {
  const auto view = StageView::create("/proc/stage");
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace clvet
