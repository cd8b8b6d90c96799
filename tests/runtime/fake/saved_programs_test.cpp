// Starts one after the other, on PoCL below the hostile driver, which keeps the programs' binaries.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/cache/program_cache.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/network_session.h"
#include "runtime/run/run_record.h"
#include "tests/runtime/fake/fake_board.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kRows = 5, kWidth = 8, kColumns = 4;

Graph network() {
  test::ModelBuilder model;
  model.input("x", {kRows, kWidth}).output("y");
  model.constant("w", {kWidth, kColumns}, test::floats(test::noise({kWidth, kColumns}, 2)));
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("Tanh", {"a"}, {"y"});
  return model.build();
}

std::string scenario(const std::string& rules) {
  return R"({"device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
    "rules": [)" +
         rules + "]}";
}

class SavedProgramsOverPocl : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  }

  // A start with the answer compared; what it says of itself.
  RunRecord start(const test::FakeBoard& board) {
    Report report = test::report_of(board.device());
    report.devices[0].environment_key = "key";
    const auto session =
        NetworkSession::open(network(), &report, {.device = "0", .state_dir = state_.path()})
            .value();
    const Tensor x = test::noise({kRows, kWidth}, 5);
    const auto outputs = session->run({{"x", x}});
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (outputs) expect_right(test::floats(x), test::floats(outputs->at("y")));
    session->note();
    session->save_programs();
    return session->record();
  }

  // Beside float64.
  static void expect_right(const std::vector<float>& x, const std::vector<float>& got) {
    const auto w = test::floats(test::noise({kWidth, kColumns}, 2));
    ASSERT_EQ(got.size(), static_cast<size_t>(kRows * kColumns));
    for (size_t i = 0; i < got.size(); ++i) {
      double sum = 0;
      for (size_t k = 0; k < kWidth; ++k)
        sum += double{x[i / kColumns * kWidth + k]} * double{w[k * kColumns + i % kColumns]};
      EXPECT_NEAR(got[i], std::tanh(sum), 1e-5) << "value " << i;
    }
  }

  std::string folder() const { return program_cache_folder(state_.path()); }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    const std::vector<CachedProgram> listed = list_programs(folder()).value();
    for (const CachedProgram& one : listed) found.push_back(folder() + "/" + one.file);
    return found;
  }

  const test::TempDir state_;
};

TEST_F(SavedProgramsOverPocl, ComeFromFilesInTheSecondStart) {
  const test::FakeBoard board(scenario(""), *test::pocl_library());
  const RunRecord first = start(board), second = start(board);
  EXPECT_GT(first.programs.compiled, 0);
  EXPECT_EQ(first.programs.loaded, 0);
  EXPECT_EQ(files().size(), static_cast<size_t>(first.programs.compiled));
  EXPECT_EQ(second.programs.compiled, 0);
  EXPECT_EQ(second.programs.loaded, first.programs.compiled);
  EXPECT_THAT(first.warnings, IsEmpty());
  EXPECT_THAT(second.warnings, IsEmpty());
}

struct Damage {
  const char* name;
  std::function<void(const std::string& file)> does;
  const char* said;
};

void edit(const std::string& file, const std::function<void(std::string& text)>& change) {
  std::string text = test::get(file);
  change(text);
  test::put(file, text);
}

const std::vector<Damage>& damages() {
  static const std::vector<Damage> rows = {
      {"cut", [](auto& f) { edit(f, [](auto& t) { t.resize(t.size() / 2); }); }, "cut off"},
      {"empty", [](auto& f) { test::put(f, ""); }, "it is empty"},
      {"foreign", [](auto& f) { test::put(f, std::string(5000, '\x7f')); }, "no program binary"},
      {"version", [](auto& f) { edit(f, [](auto& t) { t[8] = 9; }); }, "has version 9"},
      {"head", [](auto& f) { edit(f, [](auto& t) { t[30] ^= 1; }); }, "not what was saved"},
      {"label", [](auto& f) { edit(f, [](auto& t) { t[100] ^= 1; }); }, "not what was saved"},
      {"binary", [](auto& f) { edit(f, [](auto& t) { t[t.size() / 2] ^= 16; }); },
       "not what was saved"},
      {"longer", [](auto& f) { edit(f, [](auto& t) { t += 'x'; }); }, "not what it says"},
      {"rights", [](auto& f) { ::chmod(f.c_str(), 0666); }, "other users may write"},
      {"link",
       [](auto& f) {
         std::filesystem::rename(f, f + "-moved");
         std::filesystem::create_symlink(f + "-moved", f);
       },
       "it is a link"},
      {"pipe",
       [](auto& f) {
         ::unlink(f.c_str());
         ::mkfifo(f.c_str(), 0600);
       },
       "no plain file"}};
  return rows;
}

TEST_F(SavedProgramsOverPocl, AreCompiledAgainWhereAFileIsDamagedAndThatIsSaid) {
  const test::FakeBoard board(scenario(""), *test::pocl_library());
  const int programs = start(board).programs.compiled;
  for (const Damage& damage : damages()) {
    damage.does(files().at(0));
    const RunRecord run = start(board), next = start(board);
    EXPECT_THAT(run.warnings, ElementsAre(AllOf(HasSubstr("is removed"), HasSubstr(damage.said))))
        << damage.name;
    EXPECT_EQ(run.programs.compiled, 1) << damage.name;
    EXPECT_EQ(next.programs.loaded, programs) << damage.name;
    EXPECT_THAT(next.warnings, IsEmpty()) << damage.name;
  }
}

// What the driver does once its binaries lie there. A process has one scenario alone: it changes
// the real driver's own table.
class RefusedProgramsOverPocl : public SavedProgramsOverPocl,
                                public testing::WithParamInterface<const char*> {};

TEST_P(RefusedProgramsOverPocl, AreCompiledAgain) {
  const std::string rule = GetParam();
  const test::FakeBoard board(
      scenario(R"({"match": {"file_exists": "$FAKE_CL_STATE/now", )" + rule + "}"),
      *test::pocl_library());
  start(board);
  ASSERT_THAT(files(), Not(IsEmpty()));
  board.put("now");
  const RunRecord run = start(board);
  EXPECT_GT(run.programs.compiled, 0);
  EXPECT_EQ(run.programs.loaded, 0);
  EXPECT_THAT(run.warnings, Each(HasSubstr("does not take the saved program")));
  EXPECT_THAT(run.warnings, Not(IsEmpty()));
  EXPECT_EQ(run.device, "Board");
}

INSTANTIATE_TEST_SUITE_P(
    By, RefusedProgramsOverPocl,
    testing::Values(
        R"("call": "clCreateProgramWithBinary"}, "do": {"action": "error", "code": "CL_INVALID_BINARY"})",
        R"("call": "clCreateProgramWithBinary"}, "do": {"action": "null_success"})",
        R"("call": "clBuildProgram", "from_binary": true}, "do": {"action": "build_error", "log": "no"})",
        R"("call": "clCreateKernel", "from_binary": true}, "do": {"action": "error", "code": -46})"));

TEST_F(SavedProgramsOverPocl, AreNotUsedAnyMoreOnceOneGaveAWrongResult) {
  const test::FakeBoard board(
      scenario(R"({"match": {"call": "clEnqueueNDRangeKernel", "from_binary": true},
                   "do": {"action": "zeros"}})"),
      *test::pocl_library());
  start(board);
  const RunRecord second = start(board), third = start(board);
  EXPECT_THAT(second.warnings,
              ElementsAre(HasSubstr("a kernel that came of a saved program failed")));
  EXPECT_EQ(second.device, "Board");
  EXPECT_GT(second.programs.compiled, 0);
  EXPECT_EQ(second.programs.loaded, 0);
  EXPECT_THAT(second.fallbacks, IsEmpty()) << "the kernels themselves are right";
  EXPECT_THAT(third.warnings, IsEmpty());
  EXPECT_EQ(third.programs.loaded, 0);
  EXPECT_THAT(files(), IsEmpty());
}

// The delay: on a busy machine, too, no answer comes too soon beside another, and is looked at.
TEST_F(SavedProgramsOverPocl, AreConfirmedByTheHostAsCompiledOnesAre) {
  const test::FakeBoard board(
      scenario(
          R"({"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "delay", "ms": 20}})"),
      *test::pocl_library());
  std::vector<size_t> launches;
  for (int i = 0; i < 4; ++i) {
    const size_t before = test::count(board.log(), "\n");
    start(board);
    launches.push_back(test::count(board.log(), "\n") - before);
  }
  EXPECT_EQ(launches[0], 2 * launches[3]) << "the first answer is computed twice";
  EXPECT_EQ(launches[1], launches[0]) << "the first one of the binaries, too";
  EXPECT_EQ(launches[2], launches[3]);
}

class NoProgramsOverPocl : public SavedProgramsOverPocl,
                           public testing::WithParamInterface<const char*> {};

TEST_P(NoProgramsOverPocl, AreKeptWhichIsSaidOnce) {
  const std::string action = GetParam();
  const test::FakeBoard board(
      scenario(R"({"match": {"call": "clGetProgramInfo"}, "do": {)" + action + "}}"),
      *test::pocl_library());
  const RunRecord first = start(board), second = start(board);
  EXPECT_THAT(first.warnings, ElementsAre(HasSubstr("the driver gives no binaries")));
  EXPECT_THAT(second.warnings, IsEmpty());
  EXPECT_EQ(second.programs.loaded, 0);
  EXPECT_THAT(files(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Of, NoProgramsOverPocl,
                         testing::Values(R"("action": "error", "code": "CL_INVALID_VALUE")",
                                         R"("action": "binary", "size": 0)",
                                         R"("action": "binary", "size": 1000000000000)",
                                         R"("action": "binary", "more": 500)",
                                         R"("action": "binary", "more": -500)",
                                         R"("action": "skip")"));

TEST_F(SavedProgramsOverPocl, AreCompiledAgainWhereTheDriverGaveGarbage) {
  const test::FakeBoard board(
      scenario(
          R"({"match": {"call": "clGetProgramInfo"}, "do": {"action": "binary", "garbage": 64}})"),
      *test::pocl_library());
  start(board);
  const RunRecord second = start(board);
  EXPECT_THAT(second.warnings, Contains(HasSubstr("does not take the saved program")));
  EXPECT_EQ(second.programs.loaded, 0);
}

TEST_F(SavedProgramsOverPocl, AreNotKeptOnAFullDisk) {
  const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                       ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount("none", state_.path().c_str(), "tmpfs", 0, "size=32k,mode=700") == 0;
  if (!mounted) GTEST_SKIP() << "nothing can be mounted here";
  const test::FakeBoard board(scenario(""), *test::pocl_library());
  const RunRecord run = start(board);
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("program binaries are not kept")));
  EXPECT_EQ(run.device, "Board");
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_EQ(::umount(state_.path().c_str()), 0);
}

TEST_F(SavedProgramsOverPocl, AreNotKeptWhereTheFolderCannotBeWritten) {
  std::filesystem::create_symlink("/sys/kernel", folder());  // where not even root may write
  const test::FakeBoard board(scenario(""), *test::pocl_library());
  const RunRecord run = start(board);
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("program binaries are not kept")));
  EXPECT_EQ(run.device, "Board");
}

}  // namespace
}  // namespace clvet
