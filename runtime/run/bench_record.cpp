#include "runtime/run/bench_record.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/combination_json.h"
#include "runtime/plan/plan_words.h"
#include "runtime/run/figures.h"
#include "runtime/run/profile.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

constexpr std::array<std::pair<const char*, double Figures::*>, 6> kFigures{
    {{"mean_ms", &Figures::mean},
     {"min_ms", &Figures::min},
     {"median_ms", &Figures::median},
     {"p90_ms", &Figures::p90},
     {"p99_ms", &Figures::p99},
     {"max_ms", &Figures::max}}};

Json measurement_json(const Measurement& row) {
  const auto figures = figures_of(row.samples_ms);
  Json json = {{"name", row.name}, {"count", row.samples_ms.size()}};
  for (const auto& [name, member] : kFigures)
    json[name] = number_or_null(figures ? std::optional(*figures.*member) : std::nullopt);
  json["sigma_ms"] = number_or_null(figures ? figures->sigma : std::nullopt);
  const double rate = tokens_a_second(row);
  json["tokens"] = row.tokens > 0 ? Json(row.tokens) : Json(nullptr);
  json["tokens_per_s"] = rate > 0 ? Json(rate) : Json(nullptr);
  json["samples_ms"] = row.samples_ms;
  return json;
}

Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

Json step_json(const ProfiledStep& step) {
  return {{"kind", plan_words::kSteps.at(static_cast<size_t>(step.kind))},
          {"name", step.name},
          {"op", step.op},
          {"variant", step.variant},
          {"ms", step.ms},
          {"flops", positive_or_null(step.flops)},
          {"bytes", positive_or_null(step.bytes)},
          {"bound_ms", positive_or_null(step.bound_ms)}};
}

Json profile_json(const std::optional<Profile>& profile) {
  if (!profile) return nullptr;
  Json rows = Json::array();
  for (const ProfiledStep& step : *profile) rows.push_back(step_json(step));
  return rows;
}

std::string csv_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : clean_utf8(text)) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const BenchRecord& record, const Measurement& row) {
  const Combination& words = record.combination;
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{}", csv_text(record.model), csv_text(record.device),
                  to_string(words.precision), words.memory ? to_string(*words.memory) : "",
                  to_string(words.activations), words.weights ? to_string(*words.weights) : "",
                  row.name, row.samples_ms.size());
  const auto figures = figures_of(row.samples_ms);
  for (const auto& [name, member] : kFigures)
    line += figures ? fmt::format(",{}", *figures.*member) : ",";
  line += figures && figures->sigma ? fmt::format(",{}", *figures->sigma) : ",";
  const double rate = tokens_a_second(row);
  return line + (rate > 0 ? fmt::format(",{}\r\n", rate) : ",\r\n");
}

}  // namespace

double tokens_a_second(const Measurement& measurement) {
  const auto figures = figures_of(measurement.samples_ms);
  if (!figures || figures->mean <= 0) return 0;
  return static_cast<double>(measurement.tokens) / figures->mean * 1e3;
}

std::string bench_record_to_json(const BenchRecord& record) {
  Json json = {{"schema", "clvet.bench/1"},
               {"model", record.model},
               {"format", record.format},
               {"device", record.device},
               {"combination", combination_json(record.combination)},
               {"threads", record.threads},
               {"warm_up", record.warm_up},
               {"repeat", record.repeat},
               {"seed", record.random ? Json(record.seed) : Json(nullptr)},
               {"interrupted", record.interrupted},
               {"load_ms", record.load_ms}};
  json["inputs"] = Json::array();
  for (const BenchInput& row : record.inputs)
    json["inputs"].push_back(
        {{"name", row.name}, {"dtype", to_string(row.type.dtype)}, {"shape", row.type.shape}});
  json["measurements"] = Json::array();
  for (const Measurement& row : record.measurements)
    json["measurements"].push_back(measurement_json(row));
  json["profile"] = profile_json(record.profile);
  json["warnings"] = record.warnings;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string bench_record_to_csv(const BenchRecord& record) {
  std::string text =
      "model,device,precision,memory,activations,weights,measurement,count,mean_ms,min_ms,"
      "median_ms,p90_ms,p99_ms,max_ms,sigma_ms,tokens_per_s\r\n";
  for (const Measurement& row : record.measurements) text += csv_line(record, row);
  return text;
}

}  // namespace clvet
