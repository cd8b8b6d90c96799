// clvet_conformance: ONNX's node tests on a device and on the host, counted.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "probe/host/environment.h"
#include "probe/report/device_selector.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "tests/conformance/by_design.h"
#include "tests/conformance/results.h"
#include "tests/conformance/run_case.h"
#include "tests/conformance/suite.h"
#include "tests/conformance/summary.h"
#include "tests/conformance/supervise.h"

namespace clvet::conformance {
namespace {

struct Arguments {
  std::string folder, data = CLVET_CONFORMANCE_DATA;
  std::string device = "0", report, scratch = "conformance", json, only, worker;
  size_t sample = 0, host_at_least = 0, opencl_at_least = 0;
  bool all = false;
};

// Class A (--all: those of numbers): all, those whose name holds --case, or an even sample of the
// real-model ones.
std::vector<Case> chosen(const std::vector<Case>& all, const Arguments& arguments) {
  std::vector<Case> cases;
  for (const Case& row : all) {
    if (arguments.all ? row.of_numbers : arguments.sample ? row.real_model : row.class_a) {
      if (row.name.find(arguments.only) != std::string::npos) cases.push_back(row);
    }
  }
  if (!arguments.sample || arguments.sample >= cases.size()) return cases;
  std::vector<Case> sample;
  for (size_t i = 0; i < arguments.sample; ++i) {
    sample.push_back(cases[i * cases.size() / arguments.sample]);
  }
  return sample;
}

Result<std::vector<CaseResult>> run_on(const std::string& device, const std::vector<Case>& cases,
                                       const Arguments& arguments) {
  const bool host = device == "host";
  Supervision supervision;
  supervision.folder = arguments.scratch + (host ? "/host" : "/device");
  supervision.arguments = {
      "clvet_conformance", arguments.folder, "--device",        device, "--data",
      arguments.data,      "--worker",       supervision.folder};
  if (arguments.all) supervision.arguments.push_back("--all");
  if (!host) {
    supervision.arguments.push_back("--report");
    supervision.arguments.push_back(arguments.report);
  }
  if (::isatty(2)) {
    supervision.progress = [](size_t done, size_t total) {
      std::fprintf(stderr, "\r%zu of %zu", done, total);
    };
  }
  return run_supervised(cases, supervision);
}

void print(const std::string& where, const std::vector<Case>& cases,
           const std::vector<CaseResult>& results) {
  std::printf("%s: %s\n", where.c_str(), word_counts(results).c_str());
  for (const CaseResult& row : results) {
    if (row.word == kWrong || row.word == kCrash) {
      std::printf("  %s %s: %s\n", row.word.c_str(), row.name.c_str(), row.detail.c_str());
    }
  }
  std::printf("\nwhat is missing on %s\n%s\n", where.c_str(),
              operator_table(cases, results).c_str());
}

Status write_json(const Arguments& arguments, const std::vector<Case>& cases,
                  const std::vector<CaseResult>& device, const std::vector<CaseResult>& host) {
  if (arguments.json.empty()) return {};
  nlohmann::json rows = nlohmann::json::array();
  for (size_t i = 0; i < cases.size(); ++i) {
    nlohmann::json row = {{"case", cases[i].name},
                          {"operators", cases[i].operators},
                          {"real_model", cases[i].real_model},
                          {"host", to_json(host[i])}};
    if (!device.empty()) row["device"] = to_json(device[i]);
    rows.push_back(std::move(row));
  }
  const nlohmann::json document = {
      {"schema", "clvet.conformance/1"}, {"device", arguments.device}, {"cases", std::move(rows)}};
  return write_file_atomically(arguments.json, document.dump(1) + "\n");
}

// Before hundreds of cases fail for it.
Status check_device(const Arguments& arguments) {
  if (arguments.device == "host") return {};
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(arguments.report));
  CLVET_ASSIGN_OR_RETURN(const Report report, report_from_json(text, arguments.report));
  for (size_t i = 0; i < report.devices.size(); ++i) {
    if (!device_matches(report.devices, i, arguments.device)) continue;
    if (same_environment(report.devices[i]) && library_is_listed(report.devices[i])) return {};
    return fail(ErrorCode::kInvalidArgument,
                "{} was made with other drivers than this machine has; run 'clvet probe' again",
                arguments.report);
  }
  return no_such_device(report.devices, arguments.device);
}

// The last lines with --all. 1 where an answer is wrong, or too few are right on the host.
int judge_all(const Arguments& arguments, const std::vector<CaseResult>& device,
              const std::vector<CaseResult>& host) {
  const auto say = [](const std::string& where, const std::vector<CaseResult>& results) {
    const Outcome out = outcome_of(results);
    std::printf("of numbers, %s: %zu of %zu right, %zu refused, %zu wrong\n", where.c_str(),
                out.right, results.size(), out.refused, out.wrong);
    return out;
  };
  const Outcome on_host = say("host", host);
  const size_t wrong =
      on_host.wrong + (device.empty() ? 0 : say("device " + arguments.device, device).wrong);
  return wrong > 0 || on_host.right < arguments.host_at_least ? 1 : 0;
}

// 1 where a count that was asked for is not reached.
Result<int> run_all(const Arguments& arguments, const std::vector<Case>& all, const Suite& suite) {
  CLVET_RETURN_IF_ERROR(check_counts(all, suite, arguments.all));
  CLVET_RETURN_IF_ERROR(check_device(arguments));
  const std::vector<Case> cases = chosen(all, arguments);
  std::vector<CaseResult> device;
  if (arguments.device != "host") {
    CLVET_ASSIGN_OR_RETURN(device, run_on(arguments.device, cases, arguments));
    print("device " + arguments.device, cases, device);
  }
  CLVET_ASSIGN_OR_RETURN(const auto host, run_on("host", cases, arguments));
  print("host", cases, host);
  CLVET_RETURN_IF_ERROR(write_json(arguments, cases, device, host));
  if (arguments.all) return judge_all(arguments, device, host);
  const Tally counts = tally(cases, device, host);
  std::printf("real-model ops, host: %zu\nof the OpenCL count on the host by design: %zu\n",
              counts.real_model_host, counts.by_design);
  if (cases.size() == suite.class_a) {
    std::printf("%s", final_lines(counts, suite).c_str());
  } else {
    std::printf("of %zu cases: OpenCL %zu, host %zu\n", cases.size(), counts.class_a_opencl,
                counts.class_a_host);
  }
  return counts.class_a_host < arguments.host_at_least ||
                 counts.class_a_opencl < arguments.opencl_at_least
             ? 1
             : 0;
}

Result<int> work(const Arguments& arguments, const std::vector<Case>& all) {
  RunSettings settings;
  settings.device = arguments.device;
  std::optional<Report> report;
  if (arguments.device != "host") {
    CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(arguments.report));
    CLVET_ASSIGN_OR_RETURN(report, report_from_json(text, arguments.report));
    settings.report = &*report;
  }
  CLVET_ASSIGN_OR_RETURN(const HostByDesign by_design,
                         HostByDesign::read(arguments.data + "/host_by_design.json"));
  settings.by_design = &by_design;
  return run_worker(all, settings, arguments.worker);
}

Result<int> run(const Arguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(const Suite suite, read_suite(arguments.data + "/suite.json"));
  CLVET_ASSIGN_OR_RETURN(const auto all, list_cases(arguments.folder, suite, arguments.all));
  return arguments.worker.empty() ? run_all(arguments, all, suite) : work(arguments, all);
}

}  // namespace
}  // namespace clvet::conformance

int main(int argc, char** argv) {
  clvet::conformance::Arguments arguments;
  CLI::App app(
      "Runs ONNX's node tests of class A (f32, i32, i64, bool), or with --all those of numbers of "
      "any type in all of its groups, and counts what passes.");
  app.add_option("folder", arguments.folder, "onnx/backend/test/data/node")->required();
  app.add_option("--device", arguments.device, "host, or a device of the report")
      ->capture_default_str();
  app.add_option("--report", arguments.report, "what `clvet probe` wrote");
  app.add_option("--scratch", arguments.scratch, "folder for what the workers write")
      ->capture_default_str();
  app.add_option("--json", arguments.json, "write all results here");
  app.add_option("--case", arguments.only, "only cases whose name holds this");
  app.add_flag("--all", arguments.all, "cases of all types of numbers, in all groups");
  app.add_option("--sample", arguments.sample, "that many of the real-model cases, evenly spread");
  app.add_option("--host-at-least", arguments.host_at_least, "exit 1 below this count");
  app.add_option("--opencl-at-least", arguments.opencl_at_least, "exit 1 below this count");
  app.add_option("--data", arguments.data, "folder of suite.json and host_by_design.json");
  app.add_option("--worker", arguments.worker)->group("");
  CLI11_PARSE(app, argc, argv);
  const auto code = clvet::conformance::run(arguments);
  int status = code.value_or(clvet::conformance::kRefused);
  if (!code) {
    constexpr int kNoDevice = 3;  // as of clvet
    if (code.error().code == clvet::ErrorCode::kNoDevice) status = kNoDevice;
    std::fprintf(stderr, "clvet_conformance: %s\n", code.error().message.c_str());
  }
  std::fflush(nullptr);
  ::_exit(status);
}
