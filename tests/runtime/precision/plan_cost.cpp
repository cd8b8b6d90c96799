// clvet_plan_cost REPORT DEVICE [PRECISION]: what a diagnosis raises, of small networks, beside
// every other choice of their nodes without a part that is right; and what it was predicted to take
// beside what it took. PRECISION (default low) is that of the device. Exit 1 where the plan costs
// more than 1.1 of the cheapest such choice, or is not right, or where a prediction is off by more
// than 15 %.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/graph/graph.h"
#include "runtime/precision/device/broken_kernels.h"
#include "runtime/precision/device/device_network.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/rounding.h"
#include "tests/runtime/precision/curable_networks.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

constexpr double kMostOverOptimum = 1.10, kMostOffPrediction = 0.15;
// Of predictions and what they are compared with, one behind the other: the machine does other
// things, too.
constexpr int kRepeats = 3;

// Every choice of nodes, fewer nodes first.
std::vector<Raised> choices(size_t nodes) {
  std::vector<uint32_t> words(1U << nodes);
  std::iota(words.begin(), words.end(), 0U);
  std::ranges::stable_sort(words, {}, [](uint32_t word) { return std::popcount(word); });
  std::vector<Raised> all;
  for (const uint32_t word : words) {
    Raised& raised = all.emplace_back(nodes);
    for (size_t n = 0; n < nodes; ++n) raised[n] = (word >> n & 1) != 0;
  }
  return all;
}

bool is_part(const Raised& part, const Raised& raised) {
  for (size_t n = 0; n < raised.size(); ++n)
    if (part[n] && !raised[n]) return false;
  return true;
}

std::string names_of(const Raised& raised, std::span<const DiagnosedNode> nodes) {
  std::string text;
  for (size_t n = 0; n < raised.size(); ++n)
    if (raised[n]) text += " " + nodes[n].name;
  return text;
}

Raised raised_by(const PrecisionPlan& plan, std::span<const DiagnosedNode> nodes) {
  Raised raised(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n)
    raised[n] = std::ranges::find(plan.raised, nodes[n].name) != plan.raised.end();
  return raised;
}

// Those that are right and have no part that is.
Result<std::vector<Raised>> smallest(DeviceNetwork& network, size_t nodes) {
  std::vector<Raised> found;
  for (const Raised& raised : choices(nodes)) {
    if (std::ranges::any_of(found, [&](const Raised& part) { return is_part(part, raised); }))
      continue;
    CLVET_ASSIGN_OR_RETURN(const DiagnosedInput row, network.with(raised, 0, Detail::kWhole));
    if (row.right) found.push_back(raised);
  }
  return found;
}

struct Judged {
  bool good = false;         // the plan is right, and as cheap as it has to be
  double over_measured = 0;  // the prediction
};

// With steps that are timed anew each time, the median.
Result<double> predicted_over_measured(const Graph& graph,
                                       const std::vector<CalibrationInput>& inputs,
                                       const DiagnoseOptions& options, DevicePlace& place,
                                       const Raised& raised) {
  std::vector<double> ratios;
  for (int i = 0; i < kRepeats; ++i) {
    DeviceNetwork network(graph, inputs, options, place);
    network.cost(raised, {});  // times the steps
    CLVET_ASSIGN_OR_RETURN(const PlanTimes measured, network.measured(raised));
    ratios.push_back(network.cost(raised, {}) / measured.raised);
  }
  return median(std::move(ratios));
}

Result<Judged> judge(const test::CurableNetwork& small, const DeviceTarget& target) {
  const DiagnoseOptions options{.policy = Policy::kNaive};
  const std::vector<CalibrationInput> inputs = {{"input", small.inputs}};
  CLVET_ASSIGN_OR_RETURN(const Graph graph,
                         prepare_for_diagnosis(small.graph, inputs, options.policy));
  CLVET_ASSIGN_OR_RETURN(const auto place, DevicePlace::open(graph, options.policy, target));
  DeviceNetwork network(graph, inputs, options, *place);
  CLVET_RETURN_IF_ERROR(avoid_broken_kernels(network, inputs.front()));
  CLVET_ASSIGN_OR_RETURN(const PrecisionDiagnosis found, diagnose_model(network, options));
  if (!found.plan) return fail(ErrorCode::kInternal, "low precision is right: there is no plan");
  const Raised raised = raised_by(*found.plan, found.nodes);
  CLVET_ASSIGN_OR_RETURN(const auto others, smallest(network, found.nodes.size()));
  const auto cost = [&](const Raised& one) { return network.cost(one, found.nodes); };
  const Raised best = *std::ranges::min_element(others, {}, cost);
  const double ratio = cost(raised) / cost(best);
  CLVET_ASSIGN_OR_RETURN(const double over_measured,
                         predicted_over_measured(graph, inputs, options, *place, raised));
  const PlanTimes& times = found.plan->predicted;
  fmt::print(
      "{}: {} of {} nodes, {:.3f} of the cheapest of {} choices, {} trials; low {:.3f} ms, plan "
      "{:.3f} ms, high {:.3f} ms; predicted over measured {:.3f}\n",
      small.name, std::ranges::count(raised, true), raised.size(), ratio, others.size(),
      found.plan->trials, times.low, times.raised, times.high, over_measured);
  fmt::print("  plan:{}\n", names_of(raised, found.nodes));
  if (raised != best) fmt::print("  best:{}\n", names_of(best, found.nodes));
  for (const ErrorOrigin& origin : found.origins) fmt::print("  origin: {}\n", origin.name);
  return Judged{found.plan->right && ratio <= kMostOverOptimum, over_measured};
}

int run(const std::string& file, const std::string& device, Precision precision) {
  const auto report = test::read_report(file);
  if (!report) {
    fmt::print(stderr, "{}\n", report.error().message);
    return 2;
  }
  const DeviceTarget target{.report = &*report, .device = device, .precision = precision};
  bool good = true;
  std::vector<double> off;
  for (const test::CurableNetwork& network : test::curable_networks()) {
    const auto judged = judge(network, target);
    if (!judged) fmt::print("{}: {}\n", network.name, judged.error().message);
    good = judged && judged->good && good;
    off.push_back(judged ? std::abs(judged->over_measured - 1) : 1);
  }
  const double most = std::ranges::max(off);
  fmt::print("the predictions are off by {:.3f} at most\n", most);
  good = good && most <= kMostOffPrediction;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace clvet

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const std::string precision = argc == 4 ? argv[3] : "low";
  return clvet::run(argv[1], argv[2],
                    precision == "normal" ? clvet::Precision::kNormal : clvet::Precision::kLow);
}
