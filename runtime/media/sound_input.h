// Sound as inputs of networks.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// A value for an input, of its type: floats alone take sound. The samples lie along the last axis
// that is not 1; each other axis is 1, or open and becomes 1. An input that names no shape gets
// [1,N].
struct SoundInput {
  Tensor value;
  int64_t padding = 0;  // zeros behind the last sample
};

// `samples`: f32 [N]. Where the model fixes the number of samples, fewer are followed by zeros, and
// more are refused: kInvalidArgument, as for an input that takes no sound.
Result<SoundInput> sound_input(const Tensor& samples, const Value& input, const std::string& file);

struct ChunkOptions {
  int64_t length = 0;   // samples of a chunk; 0: as many as the model fixes
  int64_t overlap = 0;  // how many of them are the last ones of the chunk before
};

// The samples in chunks along a new first axis, the last one filled up with zeros. The overlap of
// the first one is zeros. kInvalidArgument: as above; the model leaves the length open, or fixes
// another than the options; the overlap is no shorter than the chunk.
Result<SoundInput> sound_series(const Tensor& samples, const Value& input,
                                const ChunkOptions& options, const std::string& file);

}  // namespace clvet
