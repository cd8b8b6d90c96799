// What a program's kernels really use: constructs in the words of docs/interfaces.md, and
// signatures.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fake_cl {

struct KernelArg {
  std::string type;  // without qualifiers: "float*", "image2d_t", "int"
  std::string name;
  bool global_pointer = false;
  bool local_pointer = false;
  bool image = false;
  bool writable = false;
};

struct KernelText {
  std::vector<KernelArg> args;
  std::set<std::string> constructs;  // of the kernel and of every function it reaches
};

struct ProgramText {
  std::string text;  // preprocessed
  std::map<std::string, KernelText> kernels;
  std::set<std::string> constructs;  // of all kernels together
};

// Beyond docs/interfaces.md: int4_weights, int8_weights and quantised (either) for integers loaded
// from global memory or integer images that become floats, int4 where a nibble is cut out on the
// way. Results are cached by source, options and extensions; the reference stays valid.
const ProgramText& analyse(const std::string& source, const std::string& options,
                           const std::string& extensions);

}  // namespace fake_cl
