#include "runtime/precision/normalise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/output_sign.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/answer.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/raised_runs.h"
#include "runtime/precision/rounding.h"

namespace clvet {
namespace {

constexpr double kWhite = 255;  // of a picture
// Each costs two runs for each way.
constexpr size_t kMostInputs = 3;

using Values = std::map<std::string, Tensor>;

struct Affine {
  double minus = 0, divisor = 1;
};

// Mean and standard deviation; NaN and infinite values are left out.
Affine standard(std::span<const float> values) {
  double sum = 0, squares = 0, count = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  const double mean = count > 0 ? sum / count : 0;
  for (const float value : values)
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  const double deviation = count > 0 ? std::sqrt(squares / count) : 0;
  return {mean, deviation > 0 ? deviation : 1};
}

Affine affine_of(const Normalisation& way, std::span<const float> values) {
  switch (way.how) {
    case NormaliseHow::kCentre:
      return {kWhite / 2, kWhite / 2};
    case NormaliseHow::kStandardise:
      return standard(values);
    case NormaliseHow::kDivide:
      break;
  }
  return {0, way.divisor};
}

Result<Tensor> applied(const Normalisation& way, const Tensor& tensor) {
  const auto values = tensor.values<float>();
  const Affine affine = affine_of(way, values);
  CLVET_ASSIGN_OR_RETURN(Tensor made, Tensor::create(DType::kF32, tensor.shape()));
  std::transform(values.begin(), values.end(), made.data<float>(), [&](float value) {
    return static_cast<float>((value - affine.minus) / affine.divisor);
  });
  return made;
}

class Trials {
 public:
  Trials(const Emulation& emulation, std::span<const CalibrationInput> inputs,
         const PrecisionDiagnosis& found)
      : emulation_(emulation), inputs_(inputs), found_(found) {}

  Result<std::optional<NormaliseTrials>> run() {
    choose();
    if (chosen_.empty()) return std::nullopt;
    NormaliseTrials trials;
    trials.values.assign(values_.begin(), values_.end());
    trials.inputs = static_cast<int>(chosen_.size());
    for (Normalisation way : ways()) {
      CLVET_ASSIGN_OR_RETURN(way.right, cures(way));
      trials.tried.push_back(way);
    }
    return trials;
  }

 private:
  void choose() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (found_.inputs[i].right) continue;
      bool large = false;
      for (const auto& [name, range] : found_.inputs[i].ranges) {
        if (range.largest <= kNormalised || range.nan + range.infinite > 0) continue;
        large = true;
        values_.insert(name);
        least_ = std::min(least_, range.least);
        largest_ = std::max(largest_, range.largest);
      }
      if (large) chosen_.push_back(i);
      if (chosen_.size() == kMostInputs) return;
    }
  }

  std::vector<Normalisation> ways() const {
    std::vector<Normalisation> ways;
    if (largest_ <= kWhite) ways.push_back({NormaliseHow::kDivide, kWhite});
    if (largest_ <= kWhite && least_ >= 0) ways.push_back({NormaliseHow::kCentre});
    ways.push_back({NormaliseHow::kStandardise});
    ways.push_back({NormaliseHow::kDivide, std::exp2(std::ceil(std::log2(largest_)))});
    return ways;
  }

  Result<bool> cures(const Normalisation& way) {
    for (const size_t index : chosen_) {
      CLVET_ASSIGN_OR_RETURN(const bool right, is_right(way, inputs_[index].values, index));
      if (!right) return false;
    }
    return true;
  }

  Result<Values> exact(const Values& inputs) const {
    return RaisedRuns(emulation_).run(0, inputs, Raised(emulation_.graph().nodes.size(), true));
  }

  // An output that is constant says nothing, unless that of the values as they were is, too.
  static bool says_less(const Values& outputs, const Values& before) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const auto& row) {
      const OutputSign sign = sign_of(row.second);
      return sign == OutputSign::kNotFinite ||
             (sign != OutputSign::kNone && sign != sign_of(before.at(row.first)));
    });
  }

  Result<bool> is_right(const Normalisation& way, Values inputs, size_t index) {
    if (!before_.contains(index)) {
      CLVET_ASSIGN_OR_RETURN(before_[index], exact(inputs));
    }
    for (const std::string& name : values_) {
      CLVET_ASSIGN_OR_RETURN(inputs.at(name), applied(way, inputs.at(name)));
    }
    CLVET_ASSIGN_OR_RETURN(const Values wanted, exact(inputs));
    if (says_less(wanted, before_.at(index))) return false;
    const Raised nothing(emulation_.graph().nodes.size(), false);
    CLVET_ASSIGN_OR_RETURN(const Values low, RaisedRuns(emulation_).run(0, inputs, nothing));
    return all_right(compare_outputs(low, wanted), found_.target);
  }

  const Emulation& emulation_;
  std::span<const CalibrationInput> inputs_;
  const PrecisionDiagnosis& found_;
  std::vector<size_t> chosen_;
  std::map<size_t, Values> before_;  // what float32 gives of the values as they were
  std::set<std::string> values_;
  double least_ = 0, largest_ = 0;
};

}  // namespace

const char* to_string(NormaliseHow how) {
  constexpr std::array<const char*, kNormaliseHowCount> kWords = {"divide", "centre",
                                                                  "standardise"};
  return kWords[static_cast<size_t>(how)];
}

Result<std::optional<NormaliseTrials>> try_normalising(const Emulation& emulation,
                                                       std::span<const CalibrationInput> inputs,
                                                       const PrecisionDiagnosis& found) {
  return Trials(emulation, inputs, found).run();
}

}  // namespace clvet
