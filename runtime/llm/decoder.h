// A language model that takes tokens and gives logits, wherever it runs.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace clvet {

class DecoderBackend {
 public:
  virtual ~DecoderBackend() = default;

  // Runs the tokens whose embeddings are `hidden` [rows][width] at positions from `position` on;
  // keys and values of all earlier positions are there. Returns the logits behind the only row
  // where `answer`, else nothing; they stay until the decoder is asked for something else.
  virtual Result<std::span<const float>> step(std::span<const float> hidden, int64_t rows,
                                              int64_t position, bool answer) = 0;
  // Makes room for positions up to `capacity`, what is known of earlier ones stays.
  virtual Status reserve(int64_t capacity) = 0;
};

}  // namespace clvet
