// Colour pictures and how they become network inputs.
#pragma once

#include <clvet/clvet.h>

#include <span>
#include <string>
#include <vector>

#include "geometry.h"

namespace ocr {

struct Picture {
  int width = 0, height = 0;
  std::vector<float> pixels;  // [height,width,3], blue first, 0..255
};

// A PNG or JPEG file.
clvet::Result<Picture> read_picture(const std::string& path);

// The networks' input f32 [N,3,height,width]: each part of the picture stretched to the height and
// to `widths` columns, bilinearly, values (pixel / 255 - 0.5) / 0.5, the columns to its right 0.
// Beyond the picture its border goes on.
std::vector<float> network_input(const Picture& picture, std::span<const Quad> parts,
                                 std::span<const int> widths, int width, int height);

// All of the picture.
Quad whole(const Picture& picture);

}  // namespace ocr
