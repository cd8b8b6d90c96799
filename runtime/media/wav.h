// Sound files: WAVE in RIFF or RF64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct Sound {
  Tensor samples;     // f32 [N], N > 0, all finite; what a file of integers can hold is -1 to 1
  int64_t rate = 0;   // samples a second, above 0
  int channels = 1;   // of the file; `samples` are their mean
  bool open = false;  // its writer did not know the length; all bytes to the end are samples
};

// PCM of 8, 16, 24 and 32 bits, floats of 32 and 64. Each fault is one line with the file, what is
// wrong and what to do; of samples that are compressed it names how.
Result<Sound> read_wav(const std::string& path);
Result<Sound> parse_wav(std::string_view bytes, const std::string& name);

}  // namespace clvet
