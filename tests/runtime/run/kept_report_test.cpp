#include "runtime/run/kept_report.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "probe/report/report_files.h"
#include "probe/report/report_json.h"
#include "probe/report/report_snapshot.h"
#include "tests/support.h"

namespace clvet {
namespace {

class KeptReports : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_private_folder(folder())); }

  std::string folder() const { return dir_.path() + "/state"; }
  std::string file() const { return report_file(folder()); }
  std::string snapshot() const { return snapshot_file(file()); }

  void write_report(const std::string& created) const {
    Report report;
    report.created = created;
    ASSERT_TRUE(write_file_atomically(file(), report_to_json(report)));
  }
  std::string read_created() const {
    const auto report = read_own_report(file(), folder());
    return report ? report->created : report.error().message;
  }

  test::TempDir dir_;
};

TEST_F(KeptReports, LeaveASnapshotThatOnlyItsUserMayReadOrWrite) {
  write_report("2026-01-01T00:00:00Z");
  EXPECT_EQ(read_created(), "2026-01-01T00:00:00Z");
  struct stat info {};
  ASSERT_EQ(::stat(snapshot().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0077, 0u);
}

TEST_F(KeptReports, AreReadFromTheirSnapshots) {
  write_report("2026-01-01T00:00:00Z");
  Report other;
  other.created = "2026-03-03T00:00:00Z";
  ASSERT_TRUE(write_file_atomically(snapshot(), snapshot_of(other, *file_state(file()))));
  EXPECT_EQ(read_created(), "2026-03-03T00:00:00Z");
}

TEST_F(KeptReports, AreReadAgainWhereTheirFileChanged) {
  write_report("2026-01-01T00:00:00Z");
  EXPECT_EQ(read_created(), "2026-01-01T00:00:00Z");
  write_report("2026-02-02T00:00:00Z");
  EXPECT_EQ(read_created(), "2026-02-02T00:00:00Z");
  EXPECT_EQ(read_created(), "2026-02-02T00:00:00Z");
}

TEST_F(KeptReports, AreReadThemselvesWhereTheSnapshotIsDamagedOrNotOnesOwn) {
  write_report("2026-01-01T00:00:00Z");
  EXPECT_EQ(read_created(), "2026-01-01T00:00:00Z");
  std::string text = *read_file(snapshot());
  text[text.size() / 2] ^= 1;
  ASSERT_TRUE(write_file_atomically(snapshot(), text));
  EXPECT_EQ(read_created(), "2026-01-01T00:00:00Z");
  ASSERT_EQ(::chmod(snapshot().c_str(), 0666), 0);
  EXPECT_EQ(read_created(), "2026-01-01T00:00:00Z");
}

TEST_F(KeptReports, ThatAreNamedLeaveNothingBesideThem) {
  write_report("2026-01-01T00:00:00Z");
  ASSERT_TRUE(kept_report(file(), dir_.path()));
  EXPECT_FALSE(read_file(snapshot()));
}

class NamedReports : public KeptReports {
 protected:
  std::string named(const std::string& name) const { return dir_.path() + "/" + name; }
  void write_named(const std::string& name, const std::string& created) const {
    Report report;
    report.created = created;
    ASSERT_TRUE(write_file_atomically(named(name), report_to_json(report)));
  }
  std::string created_of(const std::string& name) const {
    const auto report = read_named_report(named(name), folder());
    return report ? report->created : report.error().message;
  }
};

TEST_F(NamedReports, AreReadFromTheSnapshotInTheStateFolder) {
  write_named("board.json", "2026-01-01T00:00:00Z");
  EXPECT_EQ(created_of("board.json"), "2026-01-01T00:00:00Z");
  EXPECT_TRUE(read_file(named_snapshot_file(folder())));
  Report other;
  other.created = "2026-03-03T00:00:00Z";
  ASSERT_TRUE(write_file_atomically(named_snapshot_file(folder()),
                                    snapshot_of(other, *file_state(named("board.json")))));
  EXPECT_EQ(created_of("board.json"), "2026-03-03T00:00:00Z");
}

TEST_F(NamedReports, AreReadThemselvesWhereTheSnapshotIsOfAnotherFileOrState) {
  write_named("board.json", "2026-01-01T00:00:00Z");
  write_named("other.json", "2026-02-02T00:00:00Z");
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(created_of("board.json"), "2026-01-01T00:00:00Z");
    EXPECT_EQ(created_of("other.json"), "2026-02-02T00:00:00Z");
  }
  write_named("other.json", "2026-03-03T00:00:00Z");
  EXPECT_EQ(created_of("other.json"), "2026-03-03T00:00:00Z");
}

TEST_F(NamedReports, LeaveNoSnapshotWhereOthersMayWriteOrThereIsNoFolder) {
  write_named("board.json", "2026-01-01T00:00:00Z");
  ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  EXPECT_EQ(created_of("board.json"), "2026-01-01T00:00:00Z");
  EXPECT_FALSE(read_file(named_snapshot_file(folder())));
  const std::string nowhere = dir_.path() + "/nowhere";
  EXPECT_TRUE(read_named_report(named("board.json"), nowhere));
  EXPECT_FALSE(read_file(named_snapshot_file(nowhere)));
}

TEST_F(NamedReports, ThatAreMissingAreSaidToBe) {
  const auto report = read_named_report(named("nothing.json"), folder());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
}

TEST_F(KeptReports, ThatAreMissingAreSaidToBe) {
  const auto report = read_own_report(file(), folder());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace clvet
