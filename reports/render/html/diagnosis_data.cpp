#include "reports/render/html/diagnosis_data.h"

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/language.h"
#include "base/text.h"
#include "reports/render/diagnosis_words.h"
#include "reports/render/html/builder.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestName = 600;

std::string name_of(std::string_view anything) {
  return shown_text(shorten(clean_utf8(anything), kLongestName));
}

// The number, or nothing where values are lost, and its words.
Json error_json(const Deviation& deviation) {
  const double part = deviation.part();
  return {std::isfinite(part) ? Json(part) : Json(nullptr), percent(part)};
}

Json range_json(const ValueRange& range) {
  Json json = {{"count", range.count},       {"least", range.least},
               {"greatest", range.greatest}, {"overflows", range.overflows},
               {"vanishes", range.vanishes}, {"subnormal", range.subnormal},
               {"nan", range.nan},           {"infinite", range.infinite},
               {"histogram", Json::array()}};
  for (size_t i = 0; i < range.histogram.size(); ++i) {
    if (range.histogram[i] > 0)
      json["histogram"].push_back(
          {static_cast<int>(i) + ValueRange::kFirstExponent, range.histogram[i]});
  }
  return json;
}

Json node_json(NumberFormat format, const DiagnosedNode& node) {
  Json json = {{"name", name_of(node.name)}, {"op", name_of(node.op)}, {"reads", node.reads}};
  json["odd"] = node.out_of_bounds;
  if (!node.floats) return json;
  json["range"] = range_json(node.range);
  json["isolated"] = error_json(node.isolated);
  json["cumulative"] = error_json(node.cumulative);
  json["constant"] = node.constant;
  json["why"] =
      node.blame ? name_of(blame_words(format, *node.blame, node.isolated.part())) : std::string();
  return json;
}

Json nodes_json(const PrecisionDiagnosis& diagnosis) {
  std::set<std::string> raised;
  if (diagnosis.plan) raised.insert(diagnosis.plan->raised.begin(), diagnosis.plan->raised.end());
  std::set<size_t> origins;
  for (const ErrorOrigin& origin : diagnosis.origins) {
    if (origin.node >= 0) origins.insert(static_cast<size_t>(origin.node));
  }
  Json nodes = Json::array();
  for (size_t i = 0; i < diagnosis.nodes.size(); ++i) {
    Json node = node_json(diagnosis.format, diagnosis.nodes[i]);
    if (origins.count(i) > 0) node["origin"] = true;
    if (raised.count(diagnosis.nodes[i].name) > 0) node["raised"] = true;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Json counts_labels() {
  return {{"overflows", tr("too large for the format")},
          {"vanishes", tr("become 0")},
          {"subnormal", tr("lose digits")},
          {"nan", "NaN"},
          {"infinite", tr("infinite")}};
}

Json labels_of_node() {
  return {{"node", tr("node")},
          {"origin", tr("origin")},
          {"raised", "float32"},
          {"odd", tr("out of bounds")},
          {"oddWith", tr("out of bounds with")},
          {"isolated", tr("its own error")},
          {"cumulative", tr("error with all before it")},
          {"why", tr("why")},
          {"range", tr("Range of its values")},
          {"values", tr("values")},
          {"notHeld", tr("Values that the format does not hold")},
          {"allHeld", tr("none")},
          {"none", tr("none")},
          {"constant", tr("With some input all its values are the same.")},
          {"noFloats", tr("It has no float32 outputs.")},
          {"reads", tr("Reads from")},
          {"readBy", tr("Read by")},
          {"counts", counts_labels()}};
}

Json labels_of(const PrecisionDiagnosis& diagnosis) {
  const char* format = to_string(diagnosis.format);
  Json labels = labels_of_node();
  labels["sizes"] =
      tr("Sizes of its values, by powers of two; the heights grow with the number's logarithm.");
  labels["greatest"] = tr("the largest of {}", format);
  labels["normal"] = tr("below this, {} loses digits", format);
  labels["vanishes"] = tr("up to this, {} gives 0", format);
  labels["noMatch"] = tr("no node has this in its name");
  labels["chart"] = tr("Error along depth");
  labels["order"] = tr("nodes in order");
  labels["lostShort"] = tr("not finite");
  labels["bound"] = tr("what rounding explains");
  return labels;
}

}  // namespace

std::string diagnosis_data(const PrecisionDiagnosis& diagnosis) {
  const FormatLimits limits = limits_of(diagnosis.format);
  Json json;
  json["format"] = {
      {"greatest", limits.greatest}, {"normal", limits.normal}, {"vanishes", limits.vanishes}};
  json["bound"] = isolated_bound(diagnosis.format);
  json["inputs"] = Json::array();
  for (const DiagnosedInput& input : diagnosis.inputs)
    json["inputs"].push_back(name_of(input.name));
  json["labels"] = labels_of(diagnosis);
  json["nodes"] = nodes_json(diagnosis);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace clvet
