// JPEG files before they are decoded.
#pragma once

#include <string_view>

namespace clvet {

// What makes a JPEG file dangerous to decode; nullptr: nothing, or it is none. Up to version 2.28,
// stb_image writes beyond its tables where a Huffman table has more than 256 codes, and reads
// beyond them where it has 256, because it takes number 255 for none. Symbols of eight-bit pictures
// are fewer (ITU T.81, F.1.2 and G.1.2).
const char* jpeg_fault(std::string_view bytes);

}  // namespace clvet
