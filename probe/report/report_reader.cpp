// Reports out of JSON text.
#define JSON_DIAGNOSTICS 1
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/peak_fields.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

// Every reader below throws on a fault; report_from_json and verdict_from_json stop it.
template <class E>
E word(const Json& json, std::optional<E> (*parse)(std::string_view), const char* what) {
  const auto text = json.get<std::string>();
  const auto value = parse(text);
  if (!value) throw std::invalid_argument(fmt::format("'{}' is not a valid {}", text, what));
  return *value;
}

template <class E>
std::optional<E> optional_word(const Json& json, std::optional<E> (*parse)(std::string_view),
                               const char* what) {
  if (json.is_null()) return std::nullopt;
  return word(json, parse, what);
}

Combination get_combination(const Json& json) {
  return {word(json.at("precision"), parse_precision, "precision"),
          optional_word(json.at("memory"), parse_memory, "memory"),
          word(json.at("activations"), parse_storage, "storage"),
          optional_word(json.at("weights"), parse_storage, "storage")};
}

// JSON has no infinity and no NaN: they are written as null.
double number_or_nan(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Evidence get_evidence(const Json& json) {
  Evidence value;
  value.signal = json.at("signal");
  if (!json.at("exit_status").is_null()) value.exit_status = json.at("exit_status").get<int>();
  value.cl_error = json.at("cl_error");
  value.call = json.at("call");
  value.log = json.at("log");
  value.stderr_text = json.at("stderr");
  if (const Json& error = json.at("error"); !error.is_null()) {
    value.error =
        ErrorEvidence{number_or_nan(error.at("max_abs")), number_or_nan(error.at("max_ulp")),
                      number_or_nan(error.at("bound")), error.at("first_bad"),
                      word(error.value("first_value", "other"), parse_wrong_value, "first value")};
  }
  value.wall_ms = json.at("wall_ms");
  value.cpu_ms = json.at("cpu_ms");
  value.note = json.value("note", "");
  return value;
}

// In reports of before, 0 stands for what was not timed.
std::optional<double> get_positive(const Json& json) {
  if (json.is_null()) return std::nullopt;
  const auto value = json.get<double>();
  return value > 0 ? std::optional(value) : std::nullopt;
}

VerdictReport get_verdict(const Json& json) {
  VerdictReport value;
  value.id = json.at("id");
  value.device = json.at("device");
  value.case_name = json.at("case");
  value.op = json.at("op");
  value.kernel = json.at("kernel");
  value.variant_key = json.at("variant_key");
  value.combination = get_combination(json.at("combination"));
  value.weight_type = optional_word(json.at("weight_type"), parse_weight_type, "weight type");
  json.at("constructs").get_to(value.constructs);
  value.verdict = word(json.at("verdict"), parse_verdict, "verdict");
  value.stage = word(json.at("stage"), parse_stage, "stage");
  value.attempts = json.at("attempts");
  value.repeats = json.at("repeats");
  value.evidence = get_evidence(json.at("evidence"));
  value.median_ms = get_positive(json.at("median_ms"));
  if (const Json& spread = json.at("spread_ms"); value.median_ms && !spread.is_null()) {
    value.spread_ms = spread.get<double>();
  }
  if (json.contains("piped_ms")) value.piped_ms = get_positive(json.at("piped_ms"));
  value.gflops = get_positive(json.at("gflops"));
  return value;
}

HostReport get_host(const Json& json) {
  HostReport host;
  host.board = json.at("board");
  host.soc = json.at("soc");
  host.os = json.at("os");
  host.kernel = json.at("kernel");
  host.libc = json.at("libc");
  host.cpu = json.at("cpu");
  host.memory = json.at("memory");
  for (const Json& node : json.at("nodes")) host.nodes.push_back(parse_device_node(node));
  json.at("kernel_drivers").get_to(host.kernel_drivers);
  json.at("env").get_to(host.env);
  using Rows = std::vector<std::string>;  // what reports of before lack
  host.gpus = json.value("gpus", Rows());
  host.container = json.value("container", "");
  host.selinux = json.value("selinux", "");
  host.clocks = json.value("clocks", Rows());
  host.temperatures = json.value("temperatures", Rows());
  return host;
}

IcdFileReport get_icd_file(const Json& json) {
  IcdFileReport file{json.at("path"), json.at("target"), {}};
  const Json kinds = json.value("fault_kinds", Json::array());
  for (const Json& text : json.at("faults")) {
    const size_t at = file.faults.size();
    const Json kind = at < kinds.size() ? kinds[at] : Json("other");
    file.faults.push_back({word(kind, parse_icd_fault_kind, "kind of a fault"), text});
  }
  return file;
}

void get_discovery(const Json& json, Report& report) {
  const Json& loader = json.at("loader");
  report.loader = {word(loader.at("kind"), parse_loader_kind, "kind of a loader"),
                   loader.at("version"), loader.at("path")};
  for (const Json& row : json.at("candidates")) {
    report.candidates.push_back(
        {row.at("name"), word(row.at("origin"), parse_origin, "origin"), row.at("path"),
         word(row.at("outcome"), parse_candidate_outcome, "outcome"), row.at("reason"),
         row.at("symbols"), row.at("build_id"), row.at("seconds")});
  }
  for (const Json& row : json.at("icd_files")) report.icd_files.push_back(get_icd_file(row));
}

CombinationReport get_combination_report(const Json& json) {
  CombinationReport value;
  value.combination = get_combination(json);
  value.status = word(json.at("status"), parse_combination_status, "status");
  value.reason = json.at("reason");
  value.passed = json.at("passed");
  value.planned = json.at("planned");
  json.at("failed_cases").get_to(value.failed_cases);
  json.at("speed").get_to(value.speed);
  return value;
}

// Reports of before lack them, and a later clvet may leave one out.
PeaksReport get_peaks(const Json& json) {
  PeaksReport peaks;
  const Json& rows = json.contains("peaks") ? json.at("peaks") : Json::object();
  if (!rows.is_object()) throw std::invalid_argument("\"peaks\" is no object");
  for (const PeakField& peak : kPeaks) {
    if (rows.contains(peak.name)) peaks.*peak.value = get_positive(rows.at(peak.name));
  }
  return peaks;
}

void get_environment(const Json& json, DeviceReport& device) {
  for (const Json& row : json.at("objects")) {
    device.objects.push_back(
        {row.at("path"), row.at("identity"), row.at("size"), row.at("mtime_ns")});
  }
  json.at("variables").get_to(device.variables);
}

void get_properties(const Json& json, DeviceReport& device) {
  for (const auto& [name, value] : json.items()) {
    device.properties[name] = value.is_object() ? PropertyValue{{}, value.at("error")}
                                                : PropertyValue{value.get<std::string>(), 0};
  }
}

void get_capabilities(const Json& json, DeviceReport& device) {
  for (const auto& [name, value] : json.items()) {
    device.capabilities[name] = {
        value.at("claimed"),
        word(value.at("verdict"), parse_capability_verdict, "capability verdict"),
        value.at("evidence")};
  }
}

DeviceReport get_device(const Json& json) {
  DeviceReport device;
  device.id = json.at("id");
  device.platform = json.at("platform");
  device.name = json.at("name");
  device.type = json.at("type");
  device.vendor = json.at("vendor");
  device.driver = json.at("driver");
  device.device_version = json.at("device_version");
  device.library = json.at("library");
  device.ordinal = json.value("ordinal", device.ordinal);
  json.at("also_via").get_to(device.also_via);
  device.environment_key = json.at("environment_key");
  get_environment(json.at("environment"), device);
  json.at("extensions").get_to(device.extensions);
  get_properties(json.at("properties"), device);
  get_capabilities(json.at("capabilities"), device);
  device.peaks = get_peaks(json);
  for (const Json& row : json.at("combinations")) {
    device.combinations.push_back(get_combination_report(row));
  }
  if (const Json& best = json.at("best"); !best.is_null()) {
    device.best = BestReport{get_combination(best), best.at("why")};
  }
  return device;
}

RunReport get_run(const Json& json) {
  RunReport run;
  run.tier = json.at("tier");
  run.only_cases = json.value("only_cases", run.only_cases);
  run.cases = json.at("cases");
  run.wall_s = json.at("wall_s");
  run.driver_s = json.at("driver_s");
  run.synced_records = json.at("synced_records");
  run.attempts = json.at("attempts");
  json.at("counts").get_to(run.counts);
  return run;
}

Report get_report(const Json& json) {
  if (json.value("schema", "") != "clvet.report/1") {
    throw std::invalid_argument("its \"schema\" is not \"clvet.report/1\"");
  }
  Report report;
  report.tool_version = json.at("tool").at("version");
  report.kernel_set = json.at("tool").at("kernel_set");
  report.created = json.at("created");
  report.complete = json.at("complete");
  report.host = get_host(json.at("host"));
  get_discovery(json.at("discovery"), report);
  for (const Json& row : json.at("devices")) report.devices.push_back(get_device(row));
  report.run = get_run(json.at("run"));
  for (const Json& row : json.at("verdicts")) report.verdicts.push_back(get_verdict(row));
  for (const Json& row : json.at("advice")) {
    report.advice.push_back(
        {row.at("id"), row.at("cause"), row.at("evidence"), row.at("fixes"), row.at("lang")});
  }
  return report;
}

// A report may come from anywhere and be printed at a terminal: control characters, which text that
// clvet wrote does not hold, become U+FFFD in values and are refused in names.
bool clean_strings(int, Json::parse_event_t event, Json& parsed) {
  if (!parsed.is_string()) return true;
  const auto& text = parsed.get_ref<const std::string&>();
  std::string clean = clean_utf8(text);
  if (clean == text) return true;
  if (event == Json::parse_event_t::key)
    throw std::invalid_argument(fmt::format("the name '{}' holds a control character", clean));
  parsed = std::move(clean);
  return true;
}

// Runs a reader that throws, and gives its fault as one line.
template <class T>
Result<T> guarded(const std::string& text, T (*read)(const Json&), const std::string& source,
                  const char* next_step) {
  try {
    return read(Json::parse(text, clean_strings));
  } catch (const std::exception& fault) {
    std::string message = shorten(clean_utf8(fault.what()), 300);
    for (char& c : message) c = c == '\n' || c == '\t' ? ' ' : c == ';' ? ',' : c;
    return fail(ErrorCode::kInvalidArgument, "{} is no usable report: {}; {}", source, message,
                next_step);
  }
}

}  // namespace

Result<Report> report_from_json(const std::string& text, const std::string& source) {
  return guarded(text, get_report, source, "make a new one with 'clvet probe --out FILE'");
}

Result<VerdictReport> verdict_from_json(const std::string& text) {
  return guarded(text, get_verdict, "the journal's verdict", "start over with --fresh");
}

}  // namespace clvet
