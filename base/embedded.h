// A file embedded in the program at build time (kernels/cmake/EmbedFiles.cmake).
#pragma once

#include <string_view>

namespace clvet {

struct EmbeddedFile {
  std::string_view path;  // relative to the folder that was embedded
  std::string_view text;  // the file's bytes
};

}  // namespace clvet
