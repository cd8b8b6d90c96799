// STFT: the transforms of frames of a signal, which begin every so many steps.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/fourier.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/spectrum.h"

namespace clvet::op_stft {
namespace {

enum Input : size_t { kSignal, kStep, kWindow, kLength };

struct Problem {
  int64_t batch = 0, extent = 0, frames = 0, step = 0, length = 0, bins = 0;
};

Result<Problem> problem_of(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(check_signal(call));
  const Shape& shape = call.shape(kSignal);
  if (shape.size() != 3) return bad_shape(call, kSignal);
  if (call.has(kWindow) && call.shape(kWindow).size() != 1) return bad_shape(call, kWindow);
  const int64_t window = call.has(kWindow) ? call.shape(kWindow)[0] : shape[1];
  Problem p{.batch = shape[0], .extent = shape[1]};
  CLVET_ASSIGN_OR_RETURN(p.step, positive_length(call, kStep, 0));
  CLVET_ASSIGN_OR_RETURN(p.length, positive_length(call, kLength, window));
  if (call.has(kWindow) && window != p.length) return bad_shape(call, kWindow);
  if (p.length > p.extent) return bad_shape(call, kSignal);
  p.frames = (p.extent - p.length) / p.step + 1;
  CLVET_ASSIGN_OR_RETURN(p.bins, bins_of(call, call.node.int_attr("onesided", 1), p.length, false));
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  return Types{{call.type(kSignal).dtype, {p.batch, p.frames, p.bins, 2}}};
}

template <class T>
Status transform(const OpCall& call, Tensor& out) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  CLVET_ASSIGN_OR_RETURN(Fourier fourier, Fourier::create(p.length, false));
  SpectrumLines<T> lines(call, out, fourier, p.bins);
  const T* window = call.has(kWindow) ? call.tensor(kWindow).data<T>() : nullptr;
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t frame = 0; frame < p.frames; ++frame)
      lines.run(n * p.extent + frame * p.step, p.length, (n * p.frames + frame) * p.bins, 1,
                window);
  return {};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  if (call.type(0).dtype == DType::kF64) return transform<double>(call, outputs[0]);
  return transform<float>(call, outputs[0]);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"STFT"},
    .since = 17,
    .inputs = "T i T? i?",
    .attributes = "onesided:i",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_stft
