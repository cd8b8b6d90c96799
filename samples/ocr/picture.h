// Colour pictures and how they become network inputs.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "samples/ocr/geometry.h"

namespace clvet::ocr {

struct Picture {
  int width = 0, height = 0;
  Tensor pixels;  // f32 [1,height,width,3], blue first, 0..255
};

Result<Picture> read_picture(const std::string& path);

// The networks' input f32 [N,3,height,width]: each part of the picture stretched to the height and
// to `widths` columns, bilinearly, values (pixel / 255 - 0.5) / 0.5, the columns to its right 0.
// Beyond the picture its border goes on.
Result<Tensor> network_input(const Picture& picture, std::span<const Quad> parts,
                             std::span<const int> widths, int width, int height);

// All of the picture.
Quad whole(const Picture& picture);

}  // namespace clvet::ocr
