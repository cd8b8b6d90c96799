// The number of threads, as option and as variable.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/probe/fake/helpers.h"

namespace clvet {
namespace {

using testing::HasSubstr;

constexpr const char* kNoNumber = "is not a number of threads from 0 to 1024";

TEST(Threads, AreRefusedByTheNameOfTheOptionInEachVerbThatComputes) {
  for (const char* verb : {"run", "generate", "diagnose", "plan", "check", "probe"}) {
    for (const std::string value : {"-1", "many", "1025", "99999999999999999999", ""}) {
      std::vector<std::string> words{verb, "--threads=" + value};
      if (verb != std::string("probe")) words.emplace_back("model");
      if (verb == std::string("generate")) words.emplace_back("--prompt=a");
      const auto done = test::Bench().run(words);
      EXPECT_EQ(done.exit_code, 2) << verb;
      EXPECT_THAT(done.err, HasSubstr("--threads: ")) << verb << " " << value;
    }
  }
}

TEST(Threads, AreRefusedByTheNameOfTheVariable) {
  test::Bench bench;
  bench.environment()["CLVET_THREADS"] = "-2";
  const auto done = bench.run({"check", "model.onnx"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr(std::string("clvet: CLVET_THREADS: '-2' ") + kNoNumber));
  EXPECT_EQ(bench.run({"check", "--help"}).exit_code, 0);
}

TEST(Threads, AreTheOptionsWhateverTheVariableSays) {
  test::Bench bench;
  bench.environment()["CLVET_THREADS"] = "many";
  const auto done = bench.run({"check", "no-model.onnx", "--threads", "2"});
  EXPECT_THAT(done.err, HasSubstr("no-model.onnx"));
  EXPECT_THAT(done.err, testing::Not(HasSubstr("CLVET_THREADS")));
}

TEST(Threads, AreRefusedInChinese) {
  const auto done = test::Bench().run({"check", "model.onnx", "--threads", "many", "--lang", "zh"});
  EXPECT_THAT(done.err, HasSubstr("--threads: 'many' 不是 0 到 1024 之间的线程数"));
}

}  // namespace
}  // namespace clvet
