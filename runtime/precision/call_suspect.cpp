#include "runtime/precision/call_suspect.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/decoder_emulation.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {
namespace {

int64_t dim_of(const DecoderCall& call, const char* name) {
  const auto found = call.dims.find(name);
  return found == call.dims.end() ? 0 : found->second;
}

// Of rows, or of the heads of queries and keys, as far as the call normalises them.
std::vector<float> sums_of_squares(const DecoderCall& call, std::span<const float> x) {
  const bool heads = call.op == "rope" && dim_of(call, "norm") == 1;
  const int64_t count = call.op == "rms_norm" ? dim_of(call, "C") : heads ? dim_of(call, "D") : 0;
  const int64_t normed = heads ? dim_of(call, "H") + dim_of(call, "KV") : 1;
  const int64_t in_a_row = heads ? normed + dim_of(call, "KV") : 1;
  std::vector<float> sums;
  const int64_t all = count > 0 ? static_cast<int64_t>(x.size()) / count : 0;
  for (int64_t i = 0; i < all; ++i) {
    if (i % in_a_row >= normed) continue;
    double sum = 0;
    for (const float value : x.subspan(static_cast<size_t>(i * count), static_cast<size_t>(count)))
      sum += static_cast<double>(value) * value;
    sums.push_back(static_cast<float>(sum));
  }
  return sums;
}

}  // namespace

CallSuspect::CallSuspect(DecoderEmulation& emulation, const DecoderCall& call, DecoderStep step)
    : emulation_(emulation), call_(call), step_(step) {
  const bool naive = !emulation.rules().float_vectors;
  for (const std::string& role : DecoderEmulation::roles_read(call)) {
    const std::string& name = call.tensors.find(role)->second;
    SeenValue& in = inputs_.emplace_back();
    in.constant = !emulation.is_buffer(name);
    if (!in.constant) in.values = emulation.values(TextKind::kExact, name, step, false);
    if (in.constant) in.values = emulation.vector(name);
    if (!in.values.empty()) in.name = name;
    if (role == "x" && naive) squares_ = sums_of_squares(call, in.values);
  }
  for (const auto& [role, name] : call.tensors) {
    if (call.writes(role))
      outputs_.push_back({name, emulation.values(TextKind::kExact, name, step, true)});
  }
}

std::optional<SeenValue> CallSuspect::inner() const {
  if (squares_.empty()) return std::nullopt;
  return SeenValue{call_.name + ".sum_of_squares", squares_};
}

Result<Deviation> CallSuspect::deviation(const Rounded& rounded,
                                         DecoderEmulation::Round round) const {
  CLVET_ASSIGN_OR_RETURN(const auto found, emulation_.alone(call_, step_, rounded, round));
  Deviation deviation;
  for (size_t i = 0; i < found.size(); ++i) deviation.add(found[i], outputs_[i].values);
  return deviation;
}

Result<double> CallSuspect::part(const Rounded& rounded) const {
  CLVET_ASSIGN_OR_RETURN(const Deviation found, deviation(rounded));
  return found.part();
}

Result<double> CallSuspect::part_of_small(int input) const {
  CLVET_ASSIGN_OR_RETURN(const Deviation found, deviation(Rounded::input(input), round_small));
  return found.part();
}

}  // namespace clvet
