#include "runtime/run/profile.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "probe/report/report.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

// 2 GFLOP/s and 4 GB/s.
CostModel known_rates() {
  PeaksReport peaks;
  peaks.bandwidth_gbs = 4;
  return {peaks, true, 2};
}

TEST(BoundOfWork, IsTheLongerOfArithmeticAndMemory) {
  EXPECT_DOUBLE_EQ(known_rates().bound_ms({.flops = 8e6, .bytes = 4e6}), 4);
  EXPECT_DOUBLE_EQ(known_rates().bound_ms({.flops = 2e6, .bytes = 12e6}), 3);
  EXPECT_EQ(CostModel().bound_ms({.flops = 2e6, .bytes = 12e6}), 0);
}

ProfiledStep step(StepKind kind, std::string name, std::string op, double ms) {
  ProfiledStep row;
  row.kind = kind;
  row.name = std::move(name);
  row.op = std::move(op);
  row.ms = ms;
  return row;
}

TEST(ChromeTrace, LaysTheStepsOneBehindTheOtherInTheRowOfWhoDoesThem) {
  Profile profile{step(StepKind::kUpload, "x", "", 0.5), step(StepKind::kKernel, "c1", "Conv", 2),
                  step(StepKind::kHost, "\xff", "NonZero", 1)};
  profile[1].variant = "conv2d_tile/high";
  profile[1].bound_ms = 1;
  const Json events = Json::parse(chrome_trace(profile, "m.onnx")).at("traceEvents");
  std::vector<std::string> rows;
  std::vector<std::pair<std::string, double>> steps;
  for (const Json& event : events) {
    if (event.at("name") == "thread_name") rows.push_back(event.at("args").at("name"));
    if (event.at("ph") == "X") {
      steps.emplace_back(event.at("name"), event.at("ts").get<double>());
      EXPECT_EQ(rows.at(event.at("tid").get<size_t>()), event.at("cat"));
    }
  }
  EXPECT_THAT(steps, ElementsAre(std::pair("upload x", 0.0), std::pair("Conv c1", 500.0),
                                 std::pair("NonZero \xEF\xBF\xBD", 2500.0)));
  EXPECT_EQ(events.at(5).at("dur"), 2000.0);
  EXPECT_EQ(events.at(5).at("args").at("bound_ms"), 1.0);
}

}  // namespace
}  // namespace clvet
