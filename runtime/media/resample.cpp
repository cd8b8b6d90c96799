#include "runtime/media/resample.h"

#include <speex/speex_resampler.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

constexpr int64_t kMaxRate = 1000000, kMaxRatio = 256, kMaxSamples = int64_t{1} << 40;
constexpr int64_t kPiece = 1 << 16;  // samples that one call takes or gives

using Resampler = std::unique_ptr<SpeexResamplerState, void (*)(SpeexResamplerState*)>;

tl::unexpected<Error> out_of_memory() {
  return fail(ErrorCode::kResourceExhausted, "there is no memory to resample the sound");
}

}  // namespace

Result<Tensor> resample(const Tensor& samples, int64_t from, int64_t to) {
  if (from == to) return samples;
  if (std::min(from, to) < 1 || std::max(from, to) > kMaxRate || from / to > kMaxRatio ||
      to / from > kMaxRatio)
    return fail(ErrorCode::kInvalidArgument,
                "a sound of {} Hz cannot be resampled to {} Hz; give a rate nearer to its own",
                from, to);
  const int64_t given = samples.elements();
  if (given > kMaxSamples)
    return fail(ErrorCode::kInvalidArgument, "the sound is too long to be resampled; cut it");
  const int64_t wanted = (given * to + from - 1) / from;
  CLVET_ASSIGN_OR_RETURN(Tensor made, Tensor::create(DType::kF32, {wanted}));
  int fault = RESAMPLER_ERR_SUCCESS;
  const Resampler state(
      speex_resampler_init(1, static_cast<uint32_t>(from), static_cast<uint32_t>(to),
                           SPEEX_RESAMPLER_QUALITY_MAX, &fault),
      speex_resampler_destroy);
  if (!state) return out_of_memory();
  speex_resampler_skip_zeros(state.get());
  const std::vector<float> silence(static_cast<size_t>(kPiece));
  for (int64_t read = 0, written = 0; written < wanted;) {
    const bool ended = read == given;
    auto taken = static_cast<uint32_t>(ended ? kPiece : std::min(kPiece, given - read));
    auto got = static_cast<uint32_t>(std::min(kPiece, wanted - written));
    const float* in = ended ? silence.data() : samples.data<float>() + read;
    fault = speex_resampler_process_float(state.get(), 0, in, &taken, made.data<float>() + written,
                                          &got);
    if (fault != RESAMPLER_ERR_SUCCESS || (taken == 0 && got == 0)) return out_of_memory();
    if (!ended) read += taken;
    written += got;
  }
  return made;
}

}  // namespace clvet
