// The trace event format of Chromium: complete events ("X"), times in microseconds.
#include <array>
#include <cstddef>
#include <string>

#include "base/json.h"
#include "runtime/plan/plan.h"
#include "runtime/run/profile.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;
constexpr std::array<const char*, 3> kRows{"device", "host", "transfers"};

// Number of its row.
int row_of(StepKind kind) {
  if (kind == StepKind::kKernel) return 0;
  return kind == StepKind::kHost ? 1 : 2;
}

std::string title_of(const ProfiledStep& step) {
  if (step.kind == StepKind::kUpload) return "upload " + step.name;
  if (step.kind == StepKind::kDownload) return "download " + step.name;
  return step.name.empty() ? step.op : step.op + " " + step.name;
}

Json named(const char* what, int row, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", row}, {"args", {{"name", name}}}};
}

Json event_of(const ProfiledStep& step, double start_ms) {
  Json args = {{"op", step.op}, {"variant", step.variant}, {"bytes", step.bytes}};
  if (step.flops > 0) args["flops"] = step.flops;
  if (step.bound_ms > 0) args["bound_ms"] = step.bound_ms;
  return {{"name", title_of(step)},
          {"cat", kRows.at(static_cast<size_t>(row_of(step.kind)))},
          {"ph", "X"},
          {"ts", start_ms * 1e3},
          {"dur", step.ms * 1e3},
          {"pid", kProcess},
          {"tid", row_of(step.kind)},
          {"args", args}};
}

}  // namespace

std::string chrome_trace(const Profile& profile, const std::string& label) {
  Json events = Json::array();
  events.push_back(named("process_name", 0, label));
  for (size_t row = 0; row < kRows.size(); ++row)
    events.push_back(named("thread_name", static_cast<int>(row), kRows.at(row)));
  double start = 0;
  for (const ProfiledStep& step : profile) {
    events.push_back(event_of(step, start));
    start += step.ms;
  }
  const Json trace = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
