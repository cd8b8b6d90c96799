// The equation of an Einsum node: what its letters and its ellipsis say of each axis.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

// One label an axis. Letters are themselves; the axes of an ellipsis count down to -1, which is its
// last one.
using Labels = std::vector<int>;

inline bool holds(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}
inline Labels chain(Labels first, const Labels& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Equation {
  std::vector<Labels> inputs;  // one a node's input, with a label twice where it takes a diagonal
  Labels output;               // no label twice
  std::map<int, int64_t> extents;

  Shape shape(const Labels& labels) const {
    Shape shape;
    for (const int label : labels) shape.push_back(extents.at(label));
    return shape;
  }
  // What is still needed once inputs 0 to `input` are one: labels of the output and of the inputs
  // behind.
  Labels needed_after(size_t input) const {
    Labels labels = output;
    for (size_t i = input + 1; i < inputs.size(); ++i) labels = chain(std::move(labels), inputs[i]);
    return labels;
  }
};

// Refuses what does not fit the shapes of the inputs.
Result<Equation> equation_of(const OpCall& call);

}  // namespace clvet
