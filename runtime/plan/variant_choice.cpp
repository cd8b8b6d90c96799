#include "runtime/plan/variant_choice.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "probe/report/tuned.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/kernel_time.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

std::vector<Precision> precisions_from(Precision first) {
  switch (first) {
    case Precision::kLow:
      return {Precision::kLow, Precision::kNormal, Precision::kHigh};
    case Precision::kNormal:
      return {Precision::kNormal, Precision::kHigh};
    case Precision::kHigh:
      break;
  }
  return {Precision::kHigh};
}

// The storages to try, the wanted ones first.
std::vector<std::pair<Storage, std::optional<Storage>>> storages_from(const WantedCall& call,
                                                                      bool has_weights) {
  std::vector<std::pair<Storage, std::optional<Storage>>> order;
  const Combination& wanted = call.combination;
  const Storage w = wanted.weights.value_or(Storage::kBuffer);
  for (const Storage activations : {wanted.activations, Storage::kBuffer}) {
    order.emplace_back(activations, has_weights ? std::optional(w) : std::nullopt);
    if (has_weights && !call.open_weights) order.emplace_back(activations, Storage::kBuffer);
  }
  return order;
}

bool is_weights(const TensorRole& role) { return role.kind == TensorKind::kWeights; }

bool images_fit(const Variant& variant, const std::vector<TensorRole>& roles,
                const DeviceFeatures& features) {
  return std::all_of(roles.begin(), roles.end(), [&](const TensorRole& role) {
    ImageExtent extent;
    if (is_weights(role) && variant.weights == Storage::kImage) {
      extent = {weight_columns(role) / 4, weight_rows(role)};
    } else if (!is_weights(role) && role.kind != TensorKind::kVector &&
               role.kind != TensorKind::kIndices && variant.activations == Storage::kImage) {
      extent = activation_extent(role);
    }
    return extent.width <= features.image_width && extent.height <= features.image_height;
  });
}

Result<std::vector<TensorRole>> roles_of(const WantedCall& wanted) {
  const OpContract* contract = find_op_contract(wanted.op);
  if (!contract) return fail(ErrorCode::kUnsupported, "there is no kernel for {}", wanted.op);
  return contract->roles(wanted.dims);
}

}  // namespace

std::string name_of_call(std::string_view op, const Dims& dims, const Scalars& scalars,
                         const Variant& variant) {
  std::string name =
      fmt::format("{} {}/{}/{}", op, to_string(variant.precision), to_string(variant.activations),
                  variant.weight_type ? to_string(*variant.weight_type) : "-");
  for (const auto& [key, value] : dims) name += fmt::format(" {}={}", key, value);
  for (const auto& [key, value] : scalars) name += fmt::format(" {}={}", key, value);
  return name;
}

bool VariantChooser::Candidate::tuned_wrong() const {
  return tuned && tuned->verdict != Verdict::kPass && tuned->verdict != Verdict::kMissing;
}

bool VariantChooser::Candidate::tuned_right() const {
  return tuned && tuned->verdict == Verdict::kPass && tuned->checked_here && tuned->rounds > 0;
}

bool VariantChooser::Candidate::trusted() const {
  const bool failed = evidence && evidence->failed > 0;
  return shown() || (!failed && tuned_right());
}

Verdict VariantChooser::Candidate::worst() const {
  if (tuned_wrong()) return tuned->verdict;
  return evidence ? evidence->worst : Verdict::kMissing;
}

std::string VariantChooser::Candidate::why() const {
  return evidence && !tuned_wrong() ? evidence->why : "";
}

ErrorCode code_of_refusal(Verdict verdict) {
  if (verdict == Verdict::kMissing) return ErrorCode::kUntested;
  return verdict == Verdict::kUnsupported ? ErrorCode::kUnsupported : ErrorCode::kDeviceError;
}

Error refusal(const std::string& variant, Verdict verdict, const std::string& why) {
  const std::string said =
      why.empty() ? fmt::format("the verdict of kernel {} is {}", variant, to_string(verdict))
                  : fmt::format("kernel {}: {}", variant, why);
  return {code_of_refusal(verdict), said, 0};
}

VariantChooser::VariantChooser(std::shared_ptr<const VariantTable> table, DeviceEvidence evidence,
                               DeviceFeatures features)
    : table_(std::move(table)), evidence_(std::move(evidence)), features_(std::move(features)) {}

VariantChooser::Candidate VariantChooser::candidate(const TableRow& row,
                                                    const WantedCall& wanted) const {
  const std::string& key = row.program->variant_key;
  const auto found = evidence_.variants.find(key);
  Candidate one{&row, found == evidence_.variants.end() ? nullptr : &found->second};
  if (evidence_.tuned.empty()) return one;
  const auto call =
      evidence_.tuned.find(name_of_call(wanted.op, wanted.dims, wanted.scalars, row.variant));
  if (call == evidence_.tuned.end()) return one;
  const auto tuned = call->second.find(key);
  if (tuned != call->second.end()) one.tuned = &tuned->second;
  return one;
}

std::vector<VariantChooser::Candidate> VariantChooser::candidates(const WantedCall& wanted) const {
  std::vector<Candidate> found;
  for (const TableRow* row : table_->for_op(wanted.op)) {
    const Variant& variant = row->variant;
    const bool fits = variant.precision == wanted.combination.precision &&
                      variant.activations == wanted.combination.activations &&
                      (variant.weights == wanted.combination.weights ||
                       (wanted.open_weights && variant.weights && wanted.combination.weights)) &&
                      variant.weight_type.value_or(wanted.type) == wanted.type;
    if (fits) found.push_back(candidate(*row, wanted));
  }
  return found;
}

int VariantChooser::rank(const TableRow& row) const {
  const auto& ranks = row.variant.manifest->rank;
  const auto found = ranks.find(features_.device_class);
  return found == ranks.end() ? 0 : found->second;
}

std::optional<ChosenVariant> VariantChooser::as_chosen(const Candidate& candidate,
                                                       const WantedCall& wanted,
                                                       const std::vector<TensorRole>& roles) const {
  auto call = make_call(candidate.row->variant, wanted.dims, wanted.scalars);
  if (!call || !images_fit(candidate.row->variant, roles, features_)) return std::nullopt;
  ChosenVariant chosen;
  chosen.row = candidate.row;
  chosen.call = std::move(*call);
  static const std::vector<TimedLaunch> none;
  const std::vector<TimedLaunch>& timed = candidate.evidence ? candidate.evidence->timed : none;
  const CallWork work =
      work_of(wanted.op, wanted.dims, roles, chosen.variant().precision, wanted.type);
  chosen.ms = evidence_.cost.kernel_ms(timed, work);
  chosen.bytes = work.bytes;
  chosen.launch_ms = evidence_.cost.piped_ms(timed, chosen.ms);
  return chosen;
}

VariantChooser::Group VariantChooser::best_of(const WantedCall& wanted,
                                              const std::vector<TensorRole>& roles) const {
  Group group;
  std::vector<ChosenVariant> shown;
  std::vector<Measured> measured;
  for (const Candidate& one : candidates(wanted)) {
    auto chosen = as_chosen(one, wanted, roles);
    if (!chosen) continue;
    if (one.trusted()) {
      if (one.tuned && one.tuned->rounds > 0) measured.push_back({*chosen, one.tuned});
      if (one.shown()) shown.push_back(std::move(*chosen));
    } else if (!group.refused.row || rank(*one.row) > rank(*group.refused.row)) {
      group.refused = one;
    }
  }
  group.best = best_among(std::move(shown));
  take_measured(std::move(measured), group.best);
  return group;
}

// What was timed goes before what was not; of those that are as fast as the fastest, but for the
// noise, the one that ranks first.
std::optional<ChosenVariant> VariantChooser::best_among(std::vector<ChosenVariant> shown) const {
  const auto whole = [](const ChosenVariant& row) { return row.ms + row.launch_ms; };
  double fast = 0, least = std::numeric_limits<double>::infinity();
  for (const ChosenVariant& row : shown) {
    if (row.ms <= 0 || whole(row) >= least) continue;
    least = whole(row);
    fast = least + evidence_.cost.noise_ms(row.ms, row.bytes);
  }
  const auto key = [&](const ChosenVariant& row) {
    const int order = row.ms <= 0 ? 2 : whole(row) > fast ? 1 : 0;
    return std::tuple(order, order == 0 ? -rank(*row.row) : 0, whole(row), -rank(*row.row));
  };
  const auto best = std::ranges::min_element(shown, {}, key);
  if (best == shown.end()) return std::nullopt;
  return std::move(*best);
}

// The ratio of two measured times is applied to the prediction: predictions are what plans are
// compared by, and one that is too low or too high is so for all of them.
void VariantChooser::take_measured(std::vector<Measured> measured,
                                   std::optional<ChosenVariant>& best) const {
  if (measured.empty()) return;
  const auto fastest = std::min_element(
      measured.begin(), measured.end(),
      [](const auto& a, const auto& b) { return a.tuned->median_ms < b.tuned->median_ms; });
  double ms = fastest->tuned->median_ms;
  if (best) {
    const auto same = std::find_if(measured.begin(), measured.end(),
                                   [&](const auto& one) { return one.chosen.row == best->row; });
    const double least = least_gain_ms(features_.device_class == "cpu");
    if (same == measured.end() || !beats_tuned(*fastest->tuned, *same->tuned, least)) return;
    if (best->ms > 0) ms *= (best->ms + best->launch_ms) / same->tuned->median_ms;
  }
  constexpr double kLeastShare = 0.05;  // of the whole, where the launch is predicted to be more
  best = std::move(fastest->chosen);
  best->ms = std::max(ms - best->launch_ms, kLeastShare * ms);
  best->launch_ms = ms - best->ms;
}

std::vector<const TableRow*> VariantChooser::rivals_of(const WantedCall& wanted,
                                                       const TableRow& row) const {
  const auto roles = roles_of(wanted);
  std::vector<const TableRow*> rivals{&row};
  for (const TableRow* other : table_->for_op(wanted.op)) {
    const Variant &a = row.variant, &b = other->variant;
    const bool alike = a.precision == b.precision && a.activations == b.activations &&
                       a.weight_type == b.weight_type &&
                       (a.weights == b.weights || wanted.open_weights);
    if (other == &row || !alike || !roles || !unsupported_reason(b, features_).empty()) continue;
    const Candidate one = candidate(*other, wanted);
    const bool failed = one.tuned_wrong() || (one.evidence && one.evidence->failed > 0);
    if (!failed && as_chosen(one, wanted, *roles)) rivals.push_back(other);
  }
  return rivals;
}

Result<ChosenVariant> VariantChooser::choose(const WantedCall& wanted) const {
  CLVET_ASSIGN_OR_RETURN(const auto roles, roles_of(wanted));
  const bool has_weights = std::any_of(roles.begin(), roles.end(), is_weights);
  std::string instead_of, why;
  Verdict verdict = Verdict::kPass;
  WantedCall here = wanted;
  for (const Precision precision : precisions_from(wanted.combination.precision)) {
    for (const auto& [activations, weights] : storages_from(wanted, has_weights)) {
      here.combination = {precision, wanted.combination.memory, activations, weights};
      Group group = best_of(here, roles);
      if (group.best) {
        group.best->instead_of = instead_of;
        group.best->verdict = verdict;
        group.best->why = why;
        return std::move(*group.best);
      }
      if (group.refused.row && instead_of.empty()) {
        instead_of = group.refused.row->name;
        verdict = group.refused.worst();
        why = group.refused.why();
      }
    }
  }
  if (!instead_of.empty()) return tl::unexpected(refusal(instead_of, verdict, why));
  return fail(ErrorCode::kUnavailable, "no kernel variant supports its shapes and attributes");
}

Result<ChosenVariant> VariantChooser::choose_named(const WantedCall& wanted,
                                                   const std::string& variant) const {
  const TableRow* row = table_->find(variant);
  if (!row || row->variant.manifest->op != wanted.op) {
    return fail(ErrorCode::kNotFound, "there is no kernel variant '{}' for {}", variant, wanted.op);
  }
  const Candidate one = candidate(*row, wanted);
  if (!one.trusted()) {
    const Verdict verdict = one.worst();
    return fail(code_of_refusal(verdict),
                "the report does not show that kernel {} is correct: its verdict is {}", variant,
                to_string(verdict));
  }
  const auto roles = roles_of(wanted);
  const bool same_weights = row->variant.weight_type.value_or(wanted.type) == wanted.type;
  auto chosen = roles && same_weights ? as_chosen(one, wanted, *roles) : std::nullopt;
  if (!chosen)
    return fail(ErrorCode::kUnavailable, "kernel {} does not support this call", variant);
  return std::move(*chosen);
}

}  // namespace clvet
