#include "reports/render/bench_text.h"

#include <gmock/gmock.h>

#include <string>

#include "base/language.h"
#include "runtime/plan/plan.h"
#include "runtime/run/bench_record.h"
#include "runtime/run/profile.h"
#include "tests/scoped_language.h"

namespace clvet {
namespace {

BenchRecord sample() {
  BenchRecord record;
  record.device = "host";
  record.threads = 2;
  record.measurements = {{"prompt", 8, {4}}, {"token", 1, {1, 3}}, {"run", 0, {}}};
  return record;
}

TEST(BenchText, IsATableWithFiguresBelowTheirNames) {
  EXPECT_EQ(bench_text(sample()),
            "on the host, 2 threads\n"
            "              runs      mean     sigma       min    median       p90       p99   ms\n"
            "prompt           1     4.000         -     4.000     4.000     4.000     4.000"
            "   2000.0 tokens/s\n"
            "token            2     2.000     1.414     1.000     3.000     3.000     3.000"
            "   500.0 tokens/s\n"
            "run              0\n");
}

TEST(BenchText, ShowsTheSlowestStepsOfAProfileFirst) {
  BenchRecord record = sample();
  ProfiledStep host, kernel;
  host.op = "NonZero";
  host.name = "n\x1b[31m";
  host.ms = 1;
  kernel.kind = StepKind::kKernel;
  kernel.op = "Conv";
  kernel.variant = "conv2d_tile/high";
  kernel.ms = 3;
  kernel.bound_ms = 1.5;
  record.profile = Profile{host, kernel};
  EXPECT_THAT(bench_text(record),
              testing::HasSubstr("the slowest of 2 steps, each timed alone (4.000 ms together):\n"
                                 "        ms     share   of best   step\n"
                                 "     3.000    75.0 %      50 %   Conv conv2d_tile/high\n"
                                 "     1.000    25.0 %         -   NonZero n�[31m"));
  EXPECT_THAT(bench_text(record), testing::Not(testing::HasSubstr("\x1b")));
}

TEST(BenchText, SaysThatItWasInterruptedInChinese) {
  BenchRecord record = sample();
  record.interrupted = true;
  const test::ScopedLanguage chinese(Language::kChinese);
  EXPECT_THAT(bench_text(record), testing::StartsWith("在主机上,2 个线程,已中断\n"
                                                      "              次数      均值    标准差"));
}

}  // namespace
}  // namespace clvet
