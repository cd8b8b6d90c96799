#include "probe/report/tuned.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "base/row_file.h"
#include "base/text.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "clvet.tuned/1";
constexpr size_t kMostText = 4096, kMostVariants = 64;
constexpr double kMostMs = 1e7, kMostRoundsOfARow = 1e6;

// What `one` gains over `other`, and the error of it, as parts of the time of `other`.
struct Gain {
  double part, error;
};

Gain gain_of(const TunedVariant& one, const TunedVariant& other) {
  const auto error_of = [](const TunedVariant& row) {
    return row.spread_ms / std::sqrt(row.rounds);
  };
  return {(other.median_ms - one.median_ms) / other.median_ms,
          std::hypot(error_of(one), error_of(other)) / other.median_ms};
}

RowFile rows_of(const std::string& file) { return {file, kSchema, kMostTunedCalls}; }

std::string row_name(const TunedCall& call) { return call.environment_key + " " + call.call; }

bool is_text(const std::string& text) { return !text.empty() && text.size() <= kMostText; }

std::optional<TunedVariant> variant_of(const Json& row) {
  if (!row.is_object()) return std::nullopt;
  TunedVariant one;
  one.variant = clean_utf8(row_text(row, "variant"));
  one.variant_key = row_text(row, "variant_key");
  const auto verdict = parse_verdict(row_text(row, "verdict"));
  const auto rounds = row_number(row, "rounds");
  if (!is_text(one.variant) || !is_text(one.variant_key) || !verdict || !rounds)
    return std::nullopt;
  if (*rounds > kMostRoundsOfARow) return std::nullopt;
  one.verdict = *verdict;
  one.rounds = static_cast<int>(*rounds);
  one.checked_here = row.value("checked_here", Json()) == true;
  if (one.rounds == 0) return one;
  const auto median = row_number(row, "median_ms"), spread = row_number(row, "spread_ms");
  if (!median || !spread || !(*median > 0) || *median > kMostMs || *spread > kMostMs)
    return std::nullopt;
  one.median_ms = *median;
  one.spread_ms = *spread;
  return one;
}

std::optional<TunedCall> call_of(const Json& row) {
  if (!row.is_object()) return std::nullopt;
  TunedCall call;
  call.environment_key = row_text(row, "environment_key");
  call.call = clean_utf8(row_text(row, "call"));
  call.device = clean_utf8(row_text(row, "device"));
  call.date = clean_utf8(row_text(row, "date"));
  const auto variants = row.find("variants");
  const bool named = is_text(call.environment_key) && is_text(call.call) &&
                     call.device.size() <= kMostText && call.date.size() <= kMostText;
  if (!named || variants == row.end() || !variants->is_array() || variants->empty() ||
      variants->size() > kMostVariants)
    return std::nullopt;
  for (const Json& one : *variants) {
    auto variant = variant_of(one);
    if (!variant) return std::nullopt;
    call.variants.push_back(std::move(*variant));
  }
  return call;
}

Json row_of(const TunedCall& call) {
  Json variants = Json::array();
  for (const TunedVariant& one : call.variants) {
    Json row = {{"variant", one.variant},
                {"variant_key", one.variant_key},
                {"verdict", to_string(one.verdict)},
                {"rounds", one.rounds},
                {"checked_here", one.checked_here}};
    if (one.rounds > 0) {
      row["median_ms"] = one.median_ms;
      row["spread_ms"] = one.spread_ms;
    }
    variants.push_back(std::move(row));
  }
  return {{"environment_key", call.environment_key},
          {"device", call.device},
          {"call", call.call},
          {"date", call.date},
          {"variants", std::move(variants)},
          {"at", seconds_of_today()}};
}

bool stays(Verdict verdict) { return verdict != Verdict::kPass && verdict != Verdict::kMissing; }

// Each kernel that failed in `from` has failed in `to`; what was checked there is checked here.
void take_findings(const TunedCall& from, TunedCall& to) {
  for (const TunedVariant& one : from.variants) {
    const auto same = std::find_if(to.variants.begin(), to.variants.end(), [&](const auto& other) {
      return other.variant_key == one.variant_key;
    });
    const bool there = same != to.variants.end();
    if (there && one.checked_here) same->checked_here = true;
    if (!stays(one.verdict)) continue;
    if (there) {
      *same = one;
    } else {
      to.variants.push_back(one);
    }
  }
}

void put_aside(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return;
  const auto text = read_file(file, kMostTunedBytes);
  if (text && parse_tuned(*text, file)) return;
  std::filesystem::rename(file, file + ".damaged", ignored);
}

}  // namespace

std::string tuned_file(const std::string& state_dir) { return state_dir + "/tuned.json"; }

Result<TunedDocument> parse_tuned(const std::string& text, const std::string& source) {
  const Json json = Json::parse(text, nullptr, false);
  const Json rows = json.is_object() ? json.value("rows", Json()) : Json();
  if (!json.is_object() || json.value("schema", Json()) != kSchema || !rows.is_object()) {
    return fail(ErrorCode::kInvalidArgument, "{} holds no times that 'clvet tune' wrote", source);
  }
  if (rows.size() > kMostTunedCalls) {
    return fail(ErrorCode::kInvalidArgument, "{} holds the times of {} calls; at most {} are read",
                source, rows.size(), kMostTunedCalls);
  }
  TunedDocument document;
  for (const auto& [name, row] : rows.items()) {
    auto call = call_of(row);
    if (call && row_number(row, "at") && name == row_name(*call)) {
      document.calls.push_back(std::move(*call));
    } else {
      document.faults.push_back(
          fmt::format("its row '{}' is not in order", shorten(clean_utf8(name), 120)));
    }
  }
  return document;
}

Result<TunedDocument> read_tuned(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return TunedDocument{};
  CLVET_RETURN_IF_ERROR(check_private(file));
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(file, kMostTunedBytes));
  return parse_tuned(text, file);
}

std::string tuned_to_json(const std::vector<TunedCall>& calls) {
  nlohmann::ordered_json json = {{"schema", kSchema}, {"rows", nlohmann::ordered_json::object()}};
  for (const TunedCall& call : calls) json["rows"][row_name(call)] = row_of(call);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int rounds_of(const TunedCall& call) {
  const auto first = std::find_if(call.variants.begin(), call.variants.end(),
                                  [](const auto& one) { return one.rounds > 0; });
  return first == call.variants.end() ? 0 : first->rounds;
}

double least_gain_ms(bool is_processor) { return is_processor ? 0.002 : 0; }

bool beats_tuned(const TunedVariant& one, const TunedVariant& other, double least_gain_ms) {
  // Many calls are chosen: what chance costs at one it wins at another, and a gain that is likely
  // is one on the whole. That `other` was predicted to be faster counts like a measurement that
  // found `one` slower by kPredictedLoss, with an error of kPredictedError: the mean of both,
  // weighted by their errors, has to be a gain. Less than kLeastGain is not worth another program.
  constexpr double kLeastGain = 0.006, kPredictedLoss = 0.01, kPredictedError = 0.03;
  const Gain gain = gain_of(one, other);
  const double weight = gain.error / kPredictedError;
  return gain.part > std::max(kLeastGain, kPredictedLoss * weight * weight) &&
         gain.part * other.median_ms > least_gain_ms;
}

bool may_beat_tuned(const TunedVariant& one, const TunedVariant& other) {
  constexpr double kWorthMoreRounds = 0.01;
  const Gain gain = gain_of(one, other);
  return gain.part + gain.error > kWorthMoreRounds &&
         gain.part <= std::max(kWorthMoreRounds, gain.error);
}

TunedCall merge_calls(const TunedCall& kept, const TunedCall& added) {
  const auto enough = [](const TunedCall& call) {
    return std::min(rounds_of(call), kEnoughRounds);
  };
  const int before = enough(kept), after = enough(added);
  const bool newer = after > before || (after == before && added.date > kept.date);
  TunedCall merged = newer ? added : kept;
  take_findings(newer ? kept : added, merged);
  return merged;
}

Status keep_tuned(const std::string& file, const std::vector<TunedCall>& calls, bool replace) {
  put_aside(file);
  return rows_of(file).change([&](RowFile::Rows& rows) {
    for (const TunedCall& call : calls) {
      TunedCall wanted = call;
      const auto there = rows.find(row_name(call));
      const auto kept = there == rows.end() ? std::nullopt : call_of(there->second);
      if (kept && replace) take_findings(*kept, wanted);
      if (kept && !replace) wanted = merge_calls(*kept, call);
      rows[row_name(call)] = row_of(wanted);
    }
  });
}

Status clear_tuned(const std::string& file) {
  std::error_code fault;
  std::filesystem::remove(file, fault);
  if (!fault) return {};
  return fail(ErrorCode::kInvalidArgument, "{} cannot be removed: {}", file, fault.message());
}

void add_tuned(std::vector<TunedCall> calls, Report& report) {
  for (TunedCall& call : calls) {
    const bool here = std::any_of(
        report.devices.begin(), report.devices.end(),
        [&](const auto& device) { return device.environment_key == call.environment_key; });
    if (here) report.tuned.push_back(std::move(call));
  }
}

}  // namespace clvet
