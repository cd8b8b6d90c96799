// Reports as JSON text.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "kernels/combination.h"
#include "probe/report/peak_fields.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(to_string(*value)) : Json(nullptr);
}

Json put(const Combination& value) {
  return {{"precision", to_string(value.precision)},
          {"memory", or_null(value.memory)},
          {"activations", to_string(value.activations)},
          {"weights", or_null(value.weights)}};
}

Json put(const Evidence& value) {
  Json json = {{"signal", value.signal},
               {"exit_status", value.exit_status ? Json(*value.exit_status) : Json(nullptr)},
               {"cl_error", value.cl_error},
               {"call", value.call},
               {"log", value.log},
               {"stderr", value.stderr_text},
               {"error", nullptr},
               {"wall_ms", value.wall_ms},
               {"cpu_ms", value.cpu_ms},
               {"note", value.note}};
  if (const auto& error = value.error) {
    json["error"] = {{"max_abs", error->max_abs},
                     {"max_ulp", error->max_ulp},
                     {"bound", error->bound},
                     {"first_bad", error->first_bad},
                     {"first_value", to_string(error->first_value)}};
  }
  return json;
}

Json put_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json put(const VerdictReport& value) {
  Json json = {{"id", value.id},
               {"device", value.device},
               {"case", value.case_name},
               {"op", value.op},
               {"kernel", value.kernel},
               {"variant_key", value.variant_key},
               {"combination", put(value.combination)},
               {"weight_type", or_null(value.weight_type)},
               {"constructs", value.constructs},
               {"verdict", to_string(value.verdict)},
               {"stage", to_string(value.stage)},
               {"attempts", value.attempts},
               {"repeats", value.repeats},
               {"evidence", put(value.evidence)},
               {"median_ms", put_number(value.median_ms)},
               {"spread_ms", put_number(value.spread_ms)},
               {"piped_ms", put_number(value.piped_ms)},
               {"launch_ms", put_number(value.launch_ms)},
               {"piped_launch_ms", put_number(value.piped_launch_ms)},
               {"gflops", put_number(value.gflops)}};
  return json;
}

Json put(const HostReport& host) {
  return {{"board", host.board},
          {"soc", host.soc},
          {"os", host.os},
          {"kernel", host.kernel},
          {"libc", host.libc},
          {"cpu", host.cpu},
          {"memory", host.memory},
          {"nodes", to_strings(host.nodes)},
          {"kernel_drivers", host.kernel_drivers},
          {"env", host.env},
          {"gpus", host.gpus},
          {"container", host.container},
          {"selinux", host.selinux},
          {"clocks", host.clocks},
          {"temperatures", host.temperatures}};
}

Json put(const IcdFileReport& row) {
  Json texts = Json::array(), kinds = Json::array();
  for (const IcdFault& fault : row.faults) {
    texts.push_back(fault.text);
    kinds.push_back(to_string(fault.kind));
  }
  return {{"path", row.path},
          {"target", row.target},
          {"faults", std::move(texts)},
          {"fault_kinds", std::move(kinds)}};
}

Json put_discovery(const Report& report) {
  Json candidates = Json::array(), icd_files = Json::array();
  for (const CandidateReport& row : report.candidates) {
    candidates.push_back({{"name", row.name},
                          {"origin", to_string(row.origin)},
                          {"path", row.path},
                          {"outcome", to_string(row.outcome)},
                          {"reason", row.reason},
                          {"symbols", row.symbols},
                          {"build_id", row.build_id},
                          {"seconds", row.seconds}});
  }
  for (const IcdFileReport& row : report.icd_files) icd_files.push_back(put(row));
  const LoaderReport& loader = report.loader;
  return {{"loader",
           {{"kind", to_string(loader.kind)}, {"version", loader.version}, {"path", loader.path}}},
          {"candidates", std::move(candidates)},
          {"icd_files", std::move(icd_files)}};
}

Json put(const CombinationReport& value) {
  Json json = put(value.combination);
  json["status"] = to_string(value.status);
  json["reason"] = value.reason;
  json["passed"] = value.passed;
  json["planned"] = value.planned;
  json["failed_cases"] = value.failed_cases;
  json["speed"] = value.speed;
  return json;
}

Json put_environment(const DeviceReport& device) {
  Json objects = Json::array();
  for (const DriverObject& row : device.objects) {
    objects.push_back({{"path", row.path},
                       {"identity", row.identity},
                       {"size", row.size},
                       {"mtime_ns", row.mtime_ns}});
  }
  return {{"objects", std::move(objects)}, {"variables", device.variables}};
}

Json put(const PeaksReport& peaks) {
  Json json = Json::object();
  for (const PeakField& peak : kPeaks) json[peak.name] = put_number(peaks.*peak.value);
  return json;
}

Json put(const std::map<std::string, PropertyValue>& properties) {
  Json json = Json::object();
  for (const auto& [name, value] : properties) {
    json[name] = value.error ? Json{{"error", value.error}} : Json(value.value);
  }
  return json;
}

Json put(const std::map<std::string, CapabilityReport>& capabilities) {
  Json json = Json::object();
  for (const auto& [name, value] : capabilities) {
    json[name] = {{"claimed", value.claimed},
                  {"verdict", to_string(value.verdict)},
                  {"evidence", value.evidence}};
  }
  return json;
}

Json put_best(const std::optional<BestReport>& best) {
  if (!best) return nullptr;
  Json json = put(best->combination);
  json["why"] = best->why;
  return json;
}

Json put(const DeviceReport& device) {
  Json combinations = Json::array();
  for (const CombinationReport& row : device.combinations) combinations.push_back(put(row));
  return {{"id", device.id},
          {"platform", device.platform},
          {"name", device.name},
          {"type", device.type},
          {"vendor", device.vendor},
          {"driver", device.driver},
          {"device_version", device.device_version},
          {"library", device.library},
          {"ordinal", device.ordinal},
          {"also_via", device.also_via},
          {"environment_key", device.environment_key},
          {"environment", put_environment(device)},
          {"extensions", device.extensions},
          {"properties", put(device.properties)},
          {"capabilities", put(device.capabilities)},
          {"peaks", put(device.peaks)},
          {"combinations", std::move(combinations)},
          {"best", put_best(device.best)}};
}

Json put(const RunReport& run) {
  return {{"tier", run.tier},         {"only_cases", run.only_cases},
          {"cases", run.cases},       {"wall_s", run.wall_s},
          {"driver_s", run.driver_s}, {"synced_records", run.synced_records},
          {"attempts", run.attempts}, {"counts", run.counts}};
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string report_to_json(const Report& report) {
  Json json = {{"schema", "clvet.report/1"},
               {"tool", {{"version", report.tool_version}, {"kernel_set", report.kernel_set}}},
               {"created", report.created},
               {"complete", report.complete},
               {"host", put(report.host)},
               {"discovery", put_discovery(report)},
               {"devices", Json::array()},
               {"run", put(report.run)},
               {"verdicts", Json::array()},
               {"advice", Json::array()}};
  for (const DeviceReport& device : report.devices) json["devices"].push_back(put(device));
  for (const VerdictReport& verdict : report.verdicts) json["verdicts"].push_back(put(verdict));
  for (const AdviceReport& row : report.advice) {
    json["advice"].push_back({{"id", row.id},
                              {"cause", row.cause},
                              {"evidence", row.evidence},
                              {"fixes", row.fixes},
                              {"lang", row.lang}});
  }
  return dump(json, 1) + "\n";
}

std::string verdict_to_json(const VerdictReport& verdict) { return dump(put(verdict), -1); }

}  // namespace clvet
