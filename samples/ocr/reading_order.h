// In which order the pieces of text on a page are read.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "geometry.h"

namespace ocr {

// Indices of the places: lines from the page's top to its bottom, within a line from its left to
// its right. Which way the page's top is follows from the places' own directions, so a page that
// lies on its side or upside down is read as it was written.
std::vector<size_t> reading_order(std::span<const Quad> places);

}  // namespace ocr
