#include "runtime/run/tune_record.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "probe/report/report.h"
#include "probe/report/tuned.h"
#include "runtime/plan/combination_json.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

bool is_timed(const TunedVariant& one) { return one.verdict == Verdict::kPass && one.rounds > 0; }

Json row_json(const TunedRow& row, double least_gain_ms) {
  Json variants = Json::array();
  for (size_t i = 0; i < row.call.variants.size(); ++i) {
    const TunedVariant& one = row.call.variants[i];
    const bool timed = is_timed(one);
    variants.push_back({{"variant", one.variant},
                        {"verdict", to_string(one.verdict)},
                        {"note", row.notes[i].empty() ? Json(nullptr) : Json(row.notes[i])},
                        {"rounds", one.rounds},
                        {"median_ms", timed ? Json(one.median_ms) : Json(nullptr)},
                        {"spread_ms", timed ? Json(one.spread_ms) : Json(nullptr)},
                        {"behind", static_cast<bool>(row.behind[i])}});
  }
  const TunedVariant* winner = winner_of(row.call, least_gain_ms);
  return {{"call", row.call.call},
          {"steps", row.steps},
          {"untuned", row.call.variants.front().variant},
          {"tuned", winner ? Json(winner->variant) : Json(nullptr)},
          {"variants", std::move(variants)}};
}

}  // namespace

const TunedVariant* winner_of(const TunedCall& call, double least_gain_ms) {
  const TunedVariant* fastest = nullptr;
  for (const TunedVariant& one : call.variants) {
    if (is_timed(one) && (!fastest || one.median_ms < fastest->median_ms)) fastest = &one;
  }
  const TunedVariant& first = call.variants.front();
  if (!fastest || !is_timed(first)) return fastest;
  return beats_tuned(*fastest, first, least_gain_ms) ? fastest : &first;
}

std::optional<TunedSum> sum_of(const TuneRecord& record) {
  TunedSum sum;
  for (const TunedRow& row : record.tuned) {
    const TunedVariant& first = row.call.variants.front();
    if (!is_timed(first)) continue;
    sum.untuned_ms += row.steps * first.median_ms;
    sum.tuned_ms += row.steps * winner_of(row.call, record.least_gain_ms)->median_ms;
  }
  return sum.untuned_ms > 0 ? std::optional(sum) : std::nullopt;
}

std::string tune_record_to_json(const TuneRecord& record) {
  const auto sum = sum_of(record);
  Json json = {{"schema", "clvet.tune/1"},
               {"model", record.model},
               {"device", record.device},
               {"combination", combination_json(record.combination)},
               {"file", record.file},
               {"seconds", record.seconds},
               {"interrupted", record.interrupted},
               {"calls", record.calls},
               {"untuned_ms", sum ? Json(sum->untuned_ms) : Json(nullptr)},
               {"tuned_ms", sum ? Json(sum->tuned_ms) : Json(nullptr)},
               {"tuned", Json::array()}};
  for (const TunedRow& row : record.tuned)
    json["tuned"].push_back(row_json(row, record.least_gain_ms));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
