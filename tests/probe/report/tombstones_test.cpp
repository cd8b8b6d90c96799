#include "probe/report/tombstones.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "base/row_file.h"
#include "probe/report/report.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class TombstonesTest : public testing::Test {
 protected:
  static Tombstone tombstone(const std::string& variant, const std::string& date = "2026-02-02") {
    return {"key", variant, Verdict::kCrash, Stage::kEnqueue, "it died", date};
  }
  static Report report() {
    Report made;
    made.created = "2026-01-31";
    made.devices.resize(1);
    made.devices[0].environment_key = "key";
    made.devices[0].capabilities[kMapReads].verdict = CapabilityVerdict::kTrue;
    return made;
  }

  const test::TempDir dir_;
  const std::string file_ = tombstones_file(dir_.path());
};

TEST_F(TombstonesTest, StandOnceForEachVariantOfAnEnvironment) {
  EXPECT_THAT(read_tombstones(file_), IsEmpty());
  for (const char* variant : {"b", "a", "b"}) ASSERT_TRUE(add_tombstone(file_, tombstone(variant)));
  const std::vector<Tombstone> read = read_tombstones(file_);
  EXPECT_THAT(read, ElementsAre(Field(&Tombstone::variant, "a"), Field(&Tombstone::variant, "b")));
  EXPECT_EQ(read[0].environment_key, "key");
  EXPECT_EQ(read[0].verdict, Verdict::kCrash);
  EXPECT_EQ(read[0].stage, Stage::kEnqueue);
  EXPECT_EQ(read[0].evidence, "it died");
}

TEST_F(TombstonesTest, HoldUntilAProbeThatIsNewer) {
  Report told = report();
  bury({tombstone("a", "2026-01-31"), tombstone("b", "2026-01-30")}, told);
  EXPECT_THAT(told.tombstones, ElementsAre(Field(&Tombstone::variant, "a")));
}

TEST_F(TombstonesTest, HoldInTheirEnvironmentAlone) {
  Report told = report();
  told.devices[0].environment_key = "another driver";
  bury({tombstone("a")}, told);
  EXPECT_THAT(told.tombstones, IsEmpty());
}

TEST_F(TombstonesTest, OfMappedReadsChangeWhatTheDeviceCan) {
  Report told = report();
  bury({tombstone("a")}, told);
  EXPECT_EQ(told.devices[0].capabilities[kMapReads].verdict, CapabilityVerdict::kTrue);
  bury({tombstone(kMapReads)}, told);
  EXPECT_EQ(told.devices[0].capabilities[kMapReads].verdict, CapabilityVerdict::kWrong);
}

TEST_F(TombstonesTest, ThatAreDamagedCountAsWrongAndShowNoControls) {
  ASSERT_TRUE(RowFile(file_, "clvet.tombstones/1", 9).change([](RowFile::Rows& rows) {
    rows["x"] = {{"at", 1}, {"environment_key", "key"}, {"verdict", 3}, {"stage", "nowhere"}};
  }));
  const std::vector<Tombstone> read = read_tombstones(file_);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].verdict, Verdict::kWrong);
}

}  // namespace
}  // namespace clvet
