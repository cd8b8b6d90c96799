#include "base/json.h"
#include "probe/diagnose/diagnosis.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_library.h"
#include "probe/diagnose/fact.h"
#include "probe/diagnose/rules.h"
#include "probe/files/change.h"
#include "probe/files/icd_view.h"
#include "probe/files/kernel_view.h"
#include "probe/files/layer_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/files/personalities.h"
#include "probe/files/survey.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

const char* word_of(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kLink:
      return "link";
    case Change::Kind::kFile:
      return "file";
    case Change::Kind::kMove:
      return "move";
    default:
      return "variable";
  }
}

Json put(const std::vector<Change>& changes) {
  Json rows = Json::array();
  for (const Change& row : changes)
    rows.push_back({{"kind", word_of(row.kind)}, {"path", row.path}, {"value", row.value}});
  return rows;
}

Json put(const Finding& finding) {
  Json fixes = Json::array(), evidence = Json::array();
  for (const LanguageText& told : finding.evidence) evidence.push_back(told.at("en"));
  for (const FoundFix& fix : finding.fixes) {
    fixes.push_back(
        {{"en", fix.text.at("en")}, {"zh", fix.text.at("zh")}, {"changes", put(fix.changes)}});
  }
  return {{"class", finding.name},
          {"cause", {{"en", finding.cause.at("en")}, {"zh", finding.cause.at("zh")}}},
          {"evidence", std::move(evidence)},
          {"fixes", std::move(fixes)}};
}

Json put(const LibraryInView& row) {
  const ElfLibrary& library = row.opening.library;
  return {{"path", row.path},
          {"outcome", to_string(row.opening.outcome)},
          {"detail", row.opening.detail},
          {"abi", abi_name({library.bits, library.machine})},
          {"soname", library.soname},
          {"needed", library.needed},
          {"symbols", row.opening.symbols.size()},
          {"opencl", to_string(row.opencl)},
          {"cl_version", row.cl},
          {"loader", row.loader},
          {"software", row.software},
          {"release", row.release},
          {"build_id", row.build_id}};
}

Json put(const IcdInView& row) {
  Json faults = Json::array();
  for (const IcdFault& fault : row.file.faults) faults.push_back(fault.text);
  return {{"path", row.file.path}, {"target", row.file.target}, {"library", row.opening.path},
          {"usable", row.usable},  {"reason", row.reason},      {"faults", std::move(faults)}};
}

Json put(const LayerInView& row) {
  return {{"from", row.from},
          {"target", row.target},
          {"library", row.library},
          {"state", row.state},
          {"reason", row.reason}};
}

Json put(const LoaderInView& loader) {
  return {{"kind", to_string(loader.kind)},
          {"version", loader.version},
          {"path", loader.path},
          {"reads", loader.reads}};
}

Json put(const KernelInView& kernel) {
  return {{"gpus", kernel.gpus},
          {"mali_release", kernel.mali_release},
          {"container", kernel.container},
          {"selinux", kernel.selinux},
          {"clocks", kernel.clocks},
          {"temperatures", kernel.temperatures},
          {"log", kernel.lines}};
}

Json put(const VariableInView& row) {
  return {{"name", row.name},   {"value", row.value},   {"state", row.state},
          {"takes", row.takes}, {"reader", row.reader}, {"behind", row.other}};
}

Json put(const Replay& replay) {
  Json steps = Json::array();
  for (const ReplayStep& row : replay.steps) {
    steps.push_back({{"name", row.name},
                     {"outcome", to_string(row.outcome)},
                     {"path", row.path},
                     {"detail", row.detail}});
  }
  return {{"end", to_string(replay.end)}, {"library", replay.library},
          {"reason", replay.reason},      {"missing_symbols", replay.missing_symbols},
          {"prints", replay.prints},      {"steps", std::move(steps)}};
}

Json put(const FrameworkDiagnosis& framework) {
  Json json = {{"name", framework.personality.name},
               {"title", framework.personality.title},
               {"source", framework.personality.source},
               {"flags", framework.flags},
               {"replay", put(framework.replay)},
               {"least_change", nullptr},
               {"source_edit", nullptr},
               {"missing", framework.missing}};
  if (framework.change) {
    json["least_change"] = {{"changes", put(framework.change->changes)},
                            {"after", put(framework.change->after)}};
  }
  if (framework.edit)
    json["source_edit"] = {{"file", framework.edit->file}, {"name", framework.edit->name}};
  return json;
}

Json put(const std::map<std::string, PropertyValue>& properties) {
  Json json = Json::object();
  for (const auto& [name, property] : properties) {
    json[name] = property.error == 0 ? Json(property.value) : Json{{"error", property.error}};
  }
  return json;
}

Json put_devices(const Report& report) {
  Json rows = Json::array();
  for (const DeviceReport& row : report.devices) {
    rows.push_back({{"id", row.id},
                    {"name", row.name},
                    {"type", row.type},
                    {"platform", row.platform},
                    {"vendor", row.vendor},
                    {"driver", row.driver},
                    {"device_version", row.device_version},
                    {"library", row.library},
                    {"also_via", row.also_via},
                    {"extensions", row.extensions},
                    {"properties", put(row.properties)}});
  }
  return rows;
}

template <class Row>
Json all_of(const std::vector<Row>& rows) {
  Json json = Json::array();
  for (const Row& row : rows) json.push_back(put(row));
  return json;
}

Json put_files(const Survey& survey) {
  return {{"loader", put(survey.loader)},
          {"variables", all_of(survey.variables)},
          {"libraries", all_of(survey.libraries)},
          {"icd_files", all_of(survey.icd_files)},
          {"layers", all_of(survey.layers)}};
}

Json put_discovery(const Report& live) {
  Report discovery;
  discovery.loader = live.loader;
  discovery.candidates = live.candidates;
  discovery.icd_files = live.icd_files;
  return Json::parse(report_to_json(discovery)).at("discovery");
}

Json document_of(const Diagnosis& diagnosis) {
  const Survey& survey = diagnosis.survey;
  Json json = {{"schema", "clvet.discover/1"},
               {"root", diagnosis.root.empty() ? "/" : diagnosis.root},
               {"system", to_string(survey.setting.system)},
               {"abi", abi_name(survey.setting.abi)},
               {"usable", diagnosis.usable},
               {"discovery", nullptr},
               {"devices", Json::array()},
               {"files", put_files(survey)},
               {"kernel", put(survey.kernel)},
               {"findings", all_of(diagnosis.findings)},
               {"as", nullptr}};
  if (diagnosis.live) {
    json["discovery"] = put_discovery(*diagnosis.live);
    json["devices"] = put_devices(*diagnosis.live);
  }
  if (diagnosis.framework) json["as"] = put(*diagnosis.framework);
  return json;
}

}  // namespace

std::string diagnosis_to_json(const Diagnosis& diagnosis) {
  return document_of(diagnosis).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
