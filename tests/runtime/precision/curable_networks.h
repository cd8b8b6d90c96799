// Small networks that more than one choice of nodes cures of low precision, some cheaper than
// others. So few nodes that every choice can be tried.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet::test {

struct CurableNetwork {
  std::string name;
  Graph graph;
  std::map<std::string, Tensor> inputs;
};

std::vector<CurableNetwork> curable_networks();

}  // namespace clvet::test
