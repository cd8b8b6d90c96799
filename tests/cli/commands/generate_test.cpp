// `clvet generate` as scripts meet it, with a model of a few letters on the host.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/json_fields.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;

class GenerateCommand : public testing::Test {
 protected:
  void SetUp() override {
    test::put(model_, test::noisy_model("llama").bytes());
    test::put(ids_, "[1,2,3]");
  }
  test::Finished run(std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", model_, "--prompt-ids", ids_, "-n", "3"});
    return bench_.run(more);
  }
  test::Bench bench_;
  const std::string model_ = bench_ / "m.gguf", ids_ = bench_ / "ids.json";
};

TEST_F(GenerateCommand, GivesStandardOutputToTheDocumentAlone) {
  const auto done = run({"--device", "host", "--json", "-"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const test::JsonFields json(done.out);
  EXPECT_EQ(json.text("/schema"), "clvet.generate/1");
  EXPECT_EQ(done.err, "") << "a script that reads both sees the document";
}

TEST_F(GenerateCommand, PrintsTheTextWhereTheDocumentGoesToAFile) {
  const auto done = run({"--device", "host", "--json", bench_ / "record.json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_NE(done.out, "");
  EXPECT_THAT(test::get(bench_ / "record.json"), HasSubstr("clvet.generate/1"));
}

TEST_F(GenerateCommand, ListsTheDevicesWhereNoneMatches) {
  bench_.probe({"--case", "gemv_split/high/normal/buffer/buffer/float"});
  const auto done = run({"--device", "nosuch", "--report", bench_.report_path()});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.err, HasSubstr("0: Mali-G78"));
}

TEST_F(GenerateCommand, RefusesAStateFolderThatOthersMayWriteWhereAReportIsNamed) {
  bench_.probe({"--case", "gemv_split/high/normal/buffer/buffer/float"});
  ASSERT_EQ(::chmod(bench_.state().c_str(), 0777), 0);
  const auto done = run({"--report", bench_.report_path()});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("other users may write to " + bench_.state()));
}

TEST_F(GenerateCommand, SaysThatAnotherProbeIsRunning) {
  test::Bench held("none",
                   R"({"rules":[{"match":{"call":"load"},"do":{"action":"delay","ms":2000}}]})");
  test::Process first(held.command({"--case", "gemv_split"}), held.environment());
  while (held.log().empty()) ::usleep(2000);
  bench_.environment() = held.environment();
  const auto done = run({});
  EXPECT_EQ(done.exit_code, 5);
  EXPECT_THAT(done.err, HasSubstr("another clvet probe (process " + std::to_string(first.pid())));
  first.wait();
}

}  // namespace
}  // namespace clvet
