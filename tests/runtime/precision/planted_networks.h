// Random small networks, each with one fault of precision in a known place or with none.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet::test {

enum class Planted {
  kNone,
  kOverflow,
  kConstant,
  kUnderflow,
  kCancellation,
  kLongSum,
  kInteger,
  kSoftmax
};
inline constexpr Planted kAllPlanted[] = {
    Planted::kOverflow, Planted::kConstant, Planted::kUnderflow, Planted::kCancellation,
    Planted::kLongSum,  Planted::kInteger,  Planted::kSoftmax};

struct PlantedNetwork {
  Graph graph;
  std::map<std::string, Tensor> inputs;
  std::string origin;  // the node; empty: none
};

PlantedNetwork planted_network(Planted planted, uint32_t seed);

}  // namespace clvet::test
