// From the detection network's map to the places of lines of text (differentiable binarisation).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "geometry.h"

namespace ocr {

// The values that PP-OCR's detection models are used with.
struct BoxOptions {
  double threshold = 0.3;    // a pixel is text above it
  double box_score = 0.5;    // mean of the map inside a box, at least
  double unclip = 1.6;       // grown by area * unclip / perimeter
  double least_side = 3;     // of a box before it grows, in pixels of the map
  size_t most_boxes = 1000;  // further ones are left out
};

// Boxes in pixels of the map. `map` holds height rows of width values 0..1.
std::vector<Quad> find_text_boxes(std::span<const float> map, int width, int height,
                                  const BoxOptions& options = {});

}  // namespace ocr
