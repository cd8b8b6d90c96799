#include "runtime/media/sound_input.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// What a network takes of a sound at once.
struct Place {
  DType dtype = DType::kF32;
  Shape shape{1, -1};
  size_t axis = 1;                                // of the samples
  int64_t length() const { return shape[axis]; }  // -1: open

  Shape of(int64_t samples) const {
    Shape whole = shape;
    whole[axis] = samples;
    return whole;
  }
};

Result<Place> place_of(const Value& input, const std::string& file) {
  Place place;
  place.dtype = input.dtype.value_or(DType::kF32);
  if (!is_float(place.dtype))
    return fail(ErrorCode::kInvalidArgument,
                "{}: input '{}' takes {}, but sound is made of floats from -1 to 1; convert it as "
                "the model wants it and give a .npy file",
                one_line(file, 300), input.name, to_string(place.dtype));
  if (!input.shape) return place;
  place.shape = *input.shape;
  place.axis = place.shape.size();
  for (size_t axis = place.shape.size(); axis-- > 0;) {
    if (place.axis == place.shape.size() && place.shape[axis] != 1) place.axis = axis;
  }
  if (place.axis == place.shape.size() && !place.shape.empty()) --place.axis;
  bool fits = !place.shape.empty() && place.length() != 0;
  for (size_t axis = 0; axis < place.shape.size(); ++axis) {
    if (axis == place.axis) continue;
    if (place.shape[axis] < 0) place.shape[axis] = 1;
    fits = fits && place.shape[axis] == 1;
  }
  if (fits) return place;
  return fail(
      ErrorCode::kInvalidArgument,
      "{}: input '{}' takes {}{}, but a sound is one row of samples; compute what the model takes "
      "(a spectrogram, for example) and give a .npy file",
      one_line(file, 300), input.name, to_string(place.dtype), to_string(*input.shape));
}

}  // namespace

Result<SoundInput> sound_input(const Tensor& samples, const Value& input, const std::string& file) {
  CLVET_ASSIGN_OR_RETURN(const Place place, place_of(input, file));
  const int64_t given = samples.elements();
  const int64_t length = place.length() < 0 ? given : place.length();
  if (given > length)
    return fail(ErrorCode::kInvalidArgument,
                "{}: the sound has {} samples, but input '{}' takes {}{}; cut the file, or let "
                "clvet run take it in steps: --series {}=FILE.wav",
                one_line(file, 300), given, input.name, to_string(place.dtype),
                to_string(*input.shape), input.name);
  CLVET_ASSIGN_OR_RETURN(Tensor whole, Tensor::create(DType::kF32, place.of(length)));
  std::copy_n(samples.data<float>(), given, whole.data<float>());
  CLVET_ASSIGN_OR_RETURN(Tensor value, whole.cast(place.dtype));
  return SoundInput{std::move(value), length - given};
}

Result<SoundInput> sound_series(const Tensor& samples, const Value& input,
                                const ChunkOptions& options, const std::string& file) {
  CLVET_ASSIGN_OR_RETURN(const Place place, place_of(input, file));
  const int64_t length = options.length > 0 ? options.length : place.length();
  if (length < 0)
    return fail(ErrorCode::kInvalidArgument,
                "{}: the model leaves the length of input '{}' open; say how many samples a step "
                "takes: --chunk 512, for example",
                one_line(file, 300), input.name);
  if (place.length() >= 0 && place.length() != length)
    return fail(ErrorCode::kInvalidArgument,
                "{}: input '{}' takes {} samples, not the {} of --chunk; leave --chunk out",
                one_line(file, 300), input.name, place.length(), length);
  if (options.overlap >= length)
    return fail(ErrorCode::kInvalidArgument,
                "--chunk-overlap {} is not below the {} samples of a step", options.overlap,
                length);
  const int64_t given = samples.elements(), advance = length - options.overlap;
  const int64_t steps = (given - 1) / advance + 1;
  Shape shape = place.of(length);
  shape.insert(shape.begin(), steps);
  CLVET_ASSIGN_OR_RETURN(Tensor whole, Tensor::create(DType::kF32, std::move(shape)));
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t first = step * advance - options.overlap, begin = std::max(first, int64_t{0});
    const int64_t count = std::min(given, first + length) - begin;
    std::copy_n(samples.data<float>() + begin, count,
                whole.data<float>() + step * length + (begin - first));
  }
  CLVET_ASSIGN_OR_RETURN(Tensor value, whole.cast(place.dtype));
  return SoundInput{std::move(value), steps * advance - given};
}

}  // namespace clvet
