// Runs of a network at low precision, each with other nodes raised. What is computed before the
// first raised node is the same in all of them, and few runs begin at the start.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/rounding.h"

namespace clvet {

class RaisedRuns {
 public:
  // Runs that are kept, each before its first raised node, with the values that are read from there
  // on: of two inputs, for two nodes.
  static constexpr size_t kKept = 4;

  // The emulation must outlive it.
  explicit RaisedRuns(const Emulation& emulation) : emulation_(emulation) {}

  // A run of the input in which nothing is raised: those of this node and later ones begin there.
  // Only where there is room.
  void offer(size_t input, const LowRun& run);
  // The network's outputs. `values` of an input are the same each time.
  Result<std::map<std::string, Tensor>> run(size_t input,
                                            const std::map<std::string, Tensor>& values,
                                            const Raised& raised);

 private:
  struct Kept {
    size_t input;
    LowRun run;
  };
  LowRun begin(size_t input, const std::map<std::string, Tensor>& values, size_t first);
  void keep(size_t input, const LowRun& run);

  const Emulation& emulation_;
  std::list<Kept> kept_;  // used last in front
};

}  // namespace clvet
