// Reports and plans from code.
#include "clvet/machine.h"

#include <fmt/format.h>
#include <signal.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "clvet/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/report/report_files.h"
#include "probe/report/report_json.h"
#include "runtime/api/guarded.h"
#include "runtime/api/program.h"
#include "runtime/api/report_choice.h"
#include "runtime/api/user_calls.h"
#include "runtime/api/words.h"
#include "runtime/graph/graph.h"
#include "runtime/onnx/reader.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/run/kept_report.h"
#include "runtime/run/model_file.h"
#include "runtime/run/model_plan.h"

namespace clvet::v1 {
namespace {

// Exit codes of `clvet probe` (docs/interfaces.md).
constexpr int kFine = 0, kFindings = 1, kUsage = 2, kNoDevice = 3, kOtherProbe = 5,
              kInterrupted = 130;

std::string folder_or_usual(const std::string& state_dir) {
  return state_dir.empty() ? ::clvet::state_dir() : state_dir;
}

DeviceSummary summary_of(const DeviceReport& device) {
  return {device.id,
          device.name,
          device.platform,
          device.driver,
          device.type,
          device.library,
          device.best ? ::clvet::to_string(device.best->combination) : ""};
}

::clvet::Result<Report> read_report_file(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(std::string json, read_file(path));
  CLVET_ASSIGN_OR_RETURN(const ::clvet::Report read, report_from_json(json, path));
  Report report{path, read.complete, {}, std::move(json)};
  for (const DeviceReport& device : read.devices) report.devices.push_back(summary_of(device));
  return report;
}

::clvet::Result<std::vector<std::string>> arguments_of(const ProbeOptions& options) {
  if (options.tier != "core" && options.tier != "full") {
    return fail(::clvet::ErrorCode::kInvalidArgument, "there is no tier '{}': it is core or full",
                clean_utf8(options.tier));
  }
  if (!(options.budget_seconds >= 0)) {
    return fail(::clvet::ErrorCode::kInvalidArgument,
                "budget_seconds is {}: it is 0 or more seconds", options.budget_seconds);
  }
  std::vector<std::string> args = {"probe", "--lang=en", "--tier=" + options.tier};
  if (!options.report.empty()) args.push_back("--out=" + options.report);
  if (!options.device.empty()) args.push_back("--device=" + options.device);
  if (options.budget_seconds > 0)
    args.push_back(fmt::format("--budget={}", options.budget_seconds));
  if (options.fresh) args.emplace_back("--fresh");
  if (options.if_changed) args.emplace_back("--if-changed");
  for (const std::string& library : options.libraries) args.push_back("--library=" + library);
  return args;
}

Status fault_of(const ProgramEnd& end) {
  const auto failed = [&](ErrorCode code) {
    const std::string said = end.last_line.empty() ? "it said nothing" : end.last_line;
    return Error{code, "clvet probe: " + said};
  };
  if (end.was_told && (end.signal == SIGINT || end.signal == SIGKILL))
    return Error{ErrorCode::cancelled, "clvet probe was told to end"};
  if (end.signal != 0)
    return Error{ErrorCode::internal,
                 fmt::format("clvet probe was ended by signal {}: {}", end.signal, end.last_line)};
  switch (end.exit_status) {
    case kFine:
    case kFindings:
    case kNoDevice:
      return {};
    case kUsage:
      return failed(ErrorCode::invalid_argument);
    case kOtherProbe:
      return failed(ErrorCode::busy);
    case kInterrupted:
      return failed(ErrorCode::cancelled);
    default:
      return failed(ErrorCode::internal);
  }
}

Result<Report> probed(const ProbeOptions& options) {
  auto args = arguments_of(options);
  if (!args) return public_error(args.error());
  auto program = find_program(options.program);
  if (!program) return public_error(program.error());
  UserCalls user("ProbeOptions::progress");
  ProgramRun run{*program, std::move(*args), {}, {}};
  if (options.progress)
    run.line = [&](const std::string& line) {
      bool goes_on = false;
      user([&] { goes_on = options.progress(line); });
      return goes_on;
    };
  const std::string folder = folder_or_usual(options.state_dir);
  run.environment["CLVET_STATE_DIR"] = folder;
  const auto end = run_program(run);
  if (!end) return public_error(end.error());
  if (const Status told = user.take_fault(); !told) return told.error();
  if (const Status done = fault_of(*end); !done) return done.error();
  auto report = read_report_file(options.report.empty() ? report_file(folder) : options.report);
  // Of a machine without devices; else `device` means none, and an older report was kept.
  if (end->exit_status == kNoDevice && (!report || !report->devices.empty()))
    return Error{ErrorCode::not_found, "clvet probe: " + end->last_line};
  return to_public(std::move(report));
}

::clvet::Result<std::string> planned(const std::string& model, const PlanOptions& options) {
  NetworkPlanRequest request{.device = options.device};
  CLVET_ASSIGN_OR_RETURN(request.words.precision, precision_named(options.precision));
  CLVET_ASSIGN_OR_RETURN(request.words.memory, memory_named(options.memory));
  CLVET_RETURN_IF_ERROR(check_model_file(model));
  std::optional<KeptReport> kept;
  if (options.device != "host") {
    CLVET_ASSIGN_OR_RETURN(kept, kept_report(options.report, folder_or_usual(options.state_dir)));
    if (!kept) return fail(::clvet::ErrorCode::kUnavailable, "{}", kNoReport);
    request.report = &kept->report;
  }
  ::clvet::Result<ExecutionPlan> plan = ExecutionPlan();
  if (is_gguf(model)) {
    CLVET_ASSIGN_OR_RETURN(request.model, sha256_of_file(model));
    plan = plan_gguf(model, request);
  } else {
    CLVET_ASSIGN_OR_RETURN(Graph graph, read_keyed_onnx(model, &request.model));
    plan = plan_onnx(std::move(graph), options.shapes, {}, request);
  }
  if (!plan) return tl::unexpected(plan.error());
  return plan_document(*plan);
}

}  // namespace

Result<Report> probe(const ProbeOptions& options) {
  return guarded([&] { return probed(options); });
}

Result<Report> read_report(const std::string& file, const std::string& state_dir) {
  return guarded([&]() -> Result<Report> {
    const std::string folder = folder_or_usual(state_dir);
    auto report = read_report_file(file.empty() ? report_file(folder) : file);
    if (!report && file.empty() && report.error().code == ::clvet::ErrorCode::kNotFound)
      return Error{ErrorCode::unavailable, kNoReport};
    return to_public(std::move(report));
  });
}

Result<std::string> plan(const std::string& model, const PlanOptions& options) {
  return guarded([&] { return to_public(planned(model, options)); });
}

}  // namespace clvet::v1
