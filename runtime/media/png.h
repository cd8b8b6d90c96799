// PNG files before they are decoded.
#pragma once

#include <string_view>

namespace clvet {

// What makes a PNG file dangerous to decode; nullptr: nothing, or it is none. stb_image takes as
// much memory as a chunk says that it is long, up to 2 GiB, before it finds that the file has less.
const char* png_fault(std::string_view bytes);

}  // namespace clvet
