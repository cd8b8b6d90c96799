// Layers that a loader would put between programs and drivers. From the files alone; nothing is
// loaded.
#pragma once

#include <string>
#include <vector>

#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"

namespace clvet {

struct LayerInView {
  std::string from;     // the .lay file, or OPENCL_LAYERS
  std::string target;   // the library that it names
  std::string library;  // the file behind that name; empty where there is none
  // honoured, broken (the loader leaves it out), ignored (the loader in use reads no such files)
  std::string state;
  std::string reason;  // of a broken one
};

// The .lay files of OPENCL_LAYER_PATH, else of /etc/OpenCL/layers, by name, and the libraries of
// OPENCL_LAYERS; at most 64. Of a loader of another kind, or none, the files count as ignored.
std::vector<LayerInView> layers_of(const FileSystemView& view, const LinkerSetting& setting,
                                   const LoaderInView& loader);

}  // namespace clvet
