#include "runtime/precision/blame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

bool is_float(const Tensor& tensor) { return tensor.dtype() == DType::kF32; }

ValueRange range_of(std::span<const Tensor> tensors, NumberFormat format) {
  ValueRange range;
  for (const Tensor& tensor : tensors) {
    if (is_float(tensor)) range.add(tensor.values<float>(), format);
  }
  return range;
}

// A node seen alone, with one thing rounded at a time.
class Suspect {
 public:
  Suspect(const Emulation& emulation, size_t node, std::span<const Tensor> values,
          std::span<const Tensor> exact)
      : emulation_(emulation), index_(node), values_(values), exact_(exact) {}

  Result<double> part(const Rounded& rounded) const {
    CLVET_ASSIGN_OR_RETURN(const auto outputs, emulation_.run(index_, values_, rounded));
    return deviation_of(outputs, exact_).part();
  }
  const Node& node() const { return emulation_.graph().nodes[index_]; }
  NumberFormat format() const { return emulation_.rules().format; }
  // The input of which rounding alone has the largest effect, and that effect.
  struct Worst {
    int input = -1;
    double part = 0;
  };
  Result<Worst> worst(bool constants) const {
    Worst worst;
    for (size_t i = 0; i < node().inputs.size(); ++i) {
      const ValueId in = node().inputs[i];
      if (in == kNoValue || (emulation_.graph().constant(in) != nullptr) != constants) continue;
      Rounded one = Rounded::nothing();
      (constants ? one.constants : one.inputs) = true;
      (constants ? one.only_constant : one.only_input) = static_cast<int>(i);
      CLVET_ASSIGN_OR_RETURN(const double found, part(one));
      if (found > worst.part) worst = {static_cast<int>(i), found};
    }
    return worst;
  }
  const Tensor& input(int index) const {
    const ValueId in = node().inputs[static_cast<size_t>(index)];
    const Tensor* constant = emulation_.graph().constant(in);
    return constant ? *constant : values_[static_cast<size_t>(in)];
  }
  // The effect of rounding those elements of an input that are too small for all their bits.
  Result<double> part_of_small(int input) const {
    const ValueId in = node().inputs[static_cast<size_t>(input)];
    std::vector<Tensor> values(values_.begin(), values_.end());
    CLVET_ASSIGN_OR_RETURN(Tensor small, Tensor::create(DType::kF32, this->input(input).shape()));
    const auto normal = static_cast<float>(limits_of(format()).normal);
    std::ranges::copy(this->input(input).values<float>(), small.data<float>());
    for (float& value : std::span(small.data<float>(), static_cast<size_t>(small.elements()))) {
      if (std::fabs(value) < normal) round_to(format(), {&value, 1});
    }
    values[static_cast<size_t>(in)] = std::move(small);
    CLVET_ASSIGN_OR_RETURN(const auto outputs, emulation_.run(index_, values, Rounded::nothing()));
    return deviation_of(outputs, exact_).part();
  }
  std::string name_of(ValueId value) const {
    return emulation_.graph().values[static_cast<size_t>(value)].name;
  }
  std::span<const Tensor> exact() const { return exact_; }

 private:
  const Emulation& emulation_;
  size_t index_;
  std::span<const Tensor> values_, exact_;
};

// Of a value that the format cannot hold; kRange where it can. Some small values are in many
// tensors and do no harm: `small` says whether they do here.
PrecisionFault fault_of(const Tensor& tensor, NumberFormat format, bool small) {
  const ValueRange range = range_of(std::span(&tensor, 1), format);
  if (range.overflows > 0) return PrecisionFault::kOverflow;
  if (small && range.vanishes + range.subnormal > 0) return PrecisionFault::kUnderflow;
  if (is_float(tensor) && has_large_integers(tensor.values<float>(), format))
    return PrecisionFault::kInteger;
  return PrecisionFault::kRange;
}

double root_mean_square(std::span<const Tensor> tensors) {
  return deviation_of(tensors, tensors).reference();
}

// Sums whose terms are much larger than what is left of them.
bool cancels(const Suspect& suspect) {
  const std::string& op = suspect.node().op;
  if (op != "Add" && op != "Sub" && op != "Sum") return false;
  double largest = 0;
  for (size_t i = 0; i < suspect.node().inputs.size(); ++i) {
    const Tensor& term = suspect.input(static_cast<int>(i));
    largest = std::max(largest, root_mean_square(std::span(&term, 1)));
  }
  return largest > 4 * root_mean_square(suspect.exact());
}

void measure(const Tensor& tensor, NumberFormat format, Blame& blame) {
  const ValueRange range = range_of(std::span(&tensor, 1), format);
  blame.largest = range.largest;
  blame.smallest = range.smallest;
}

// Most of them: weights have a few.
bool mostly_small(const Tensor& tensor, NumberFormat format) {
  const ValueRange range = range_of(std::span(&tensor, 1), format);
  return 2 * (range.vanishes + range.subnormal) > range.count - range.zero;
}

Result<Blame> blame_read(const Suspect& suspect, const Suspect::Worst& worst, FaultPlace place) {
  const Tensor& tensor = suspect.input(worst.input);
  bool small = mostly_small(tensor, suspect.format());
  if (place == FaultPlace::kInput) {
    CLVET_ASSIGN_OR_RETURN(const double part, suspect.part_of_small(worst.input));
    small = part > worst.part / 2;
  }
  Blame blame;
  blame.place = place;
  blame.input = worst.input;
  blame.value = suspect.name_of(suspect.node().inputs[static_cast<size_t>(worst.input)]);
  measure(tensor, suspect.format(), blame);
  blame.fault = fault_of(tensor, suspect.format(), small);
  blame.lossy = blame.fault != PrecisionFault::kRange;
  if (!blame.lossy && cancels(suspect)) blame.fault = PrecisionFault::kCancellation;
  return blame;
}

Blame blame_output(const Suspect& suspect) {
  Blame blame;
  blame.fault = PrecisionFault::kArithmetic;
  for (size_t i = 0; i < suspect.exact().size(); ++i) {
    const PrecisionFault fault = fault_of(suspect.exact()[i], suspect.format(), true);
    if (fault == PrecisionFault::kRange) continue;
    blame.fault = fault;
    blame.value = suspect.name_of(suspect.node().outputs[i]);
    measure(suspect.exact()[i], suspect.format(), blame);
    break;
  }
  return blame;
}

}  // namespace

const char* to_string(PrecisionFault fault) {
  constexpr std::array<const char*, kPrecisionFaultCount> kWords = {
      "overflow", "underflow", "integer", "cancellation", "range", "arithmetic"};
  return kWords[static_cast<size_t>(fault)];
}

const char* to_string(FaultPlace place) {
  constexpr std::array<const char*, 3> kWords = {"constant", "input", "output"};
  return kWords[static_cast<size_t>(place)];
}

double isolated_bound(NumberFormat format) { return std::ldexp(32, -limits_of(format).bits); }

Deviation deviation_of(std::span<const Tensor> outputs, std::span<const Tensor> reference) {
  Deviation deviation;
  for (size_t i = 0; i < outputs.size() && i < reference.size(); ++i) {
    if (is_float(outputs[i]) && is_float(reference[i]))
      deviation.add(outputs[i].values<float>(), reference[i].values<float>());
  }
  return deviation;
}

Result<Blame> blame_of(const Emulation& emulation, size_t node, std::span<const Tensor> values,
                       std::span<const Tensor> exact) {
  const Suspect suspect(emulation, node, values, exact);
  CLVET_ASSIGN_OR_RETURN(const double stored, suspect.part({false, false, true}));
  if (stored > isolated_bound(suspect.format())) return blame_output(suspect);
  CLVET_ASSIGN_OR_RETURN(const auto constant, suspect.worst(true));
  CLVET_ASSIGN_OR_RETURN(const auto input, suspect.worst(false));
  if (constant.input >= 0 && constant.part >= input.part)
    return blame_read(suspect, constant, FaultPlace::kConstant);
  if (input.input >= 0) return blame_read(suspect, input, FaultPlace::kInput);
  return blame_output(suspect);
}

}  // namespace clvet
