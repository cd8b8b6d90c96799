// planted_on_device REPORT DEVICE SEEDS: networks with one planted fault each, SEEDS of each kind,
// and six times as many clean ones, diagnosed at precision low on a device of the report. Exit 1
// where fewer than 29 of 30 origins are exact, a cure is not right, or a clean network has an
// origin.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tl/expected.hpp>

#include "base/result.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/diagnose_on_device.h"
#include "runtime/precision/diagnosis.h"
#include "tests/runtime/precision/planted_networks.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

struct Counts {
  int networks = 0, exact = 0, cured = 0, not_run = 0;
};

std::string origins_of(const PrecisionDiagnosis& found) {
  std::string text;
  for (const ErrorOrigin& origin : found.origins)
    text += fmt::format(" {} ({})", origin.name, to_string(origin.blame.fault));
  return text.empty() ? " none" : text;
}

void diagnose(test::Planted planted, uint32_t seed, const DeviceTarget& target, Counts& counts) {
  const auto network = test::planted_network(planted, seed);
  const auto found = diagnose_on_device(network.graph, {{"input", network.inputs}},
                                        {.policy = Policy::kNaive}, target);
  ++counts.networks;
  if (!found) {
    ++counts.not_run;
    fmt::print("{} {}: {}\n", static_cast<int>(planted), seed, found.error().message);
    return;
  }
  const auto& origins = found->found.origins;
  const bool exact = network.origin.empty()
                         ? origins.empty() && !found->found.plan
                         : origins.size() == 1 && origins[0].name == network.origin;
  const bool cured = !found->found.plan || found->found.plan->right;
  counts.exact += exact;
  counts.cured += cured;
  if (!exact || !cured)
    fmt::print("{} {}: planted '{}', found{}{}\n", static_cast<int>(planted), seed, network.origin,
               origins_of(found->found), cured ? "" : ", not cured");
}

int run(const std::string& file, const std::string& device, uint32_t seeds) {
  const auto report = test::read_report(file);
  if (!report) {
    fmt::print(stderr, "{}\n", report.error().message);
    return 2;
  }
  const DeviceTarget target{.report = &*report, .device = device};
  Counts planted, clean;
  for (const test::Planted one : test::kAllPlanted)
    for (uint32_t seed = 1; seed <= seeds; ++seed) diagnose(one, seed, target, planted);
  for (uint32_t seed = 1; seed <= 6 * seeds; ++seed)
    diagnose(test::Planted::kNone, seed, target, clean);
  fmt::print("planted: {} of {} origins exact, {} right in the end; clean: {} of {} without one\n",
             planted.exact, planted.networks, planted.cured, clean.exact, clean.networks);
  return 30 * planted.exact >= 29 * planted.networks && planted.cured == planted.networks &&
                 clean.exact == clean.networks
             ? 0
             : 1;
}

}  // namespace
}  // namespace clvet

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return clvet::run(argv[1], argv[2], static_cast<uint32_t>(std::atoi(argv[3])));
}
