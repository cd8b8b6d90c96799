// Plain float64 loops over multi-indices, for references that follow the text of ONNX.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"

namespace clvet::test {

using Index = std::vector<int64_t>;

// The first index of `shape` into `index`; false where it has no elements.
bool first_index(const Shape& shape, Index& index);
// The index after it, the last axis fastest; false behind the last one.
bool next_index(const Shape& shape, Index& index);

// Calls fn(index) for every index of `shape`, the last axis fastest.
template <class Fn>
void each_index(const Shape& shape, Fn&& fn) {
  Index index;
  for (bool more = first_index(shape, index); more; more = next_index(shape, index)) {
    fn(std::as_const(index));
  }
}

// Numbers by multi-index.
class Grid {
 public:
  explicit Grid(const Tensor& tensor);
  // fn(index) at each index.
  template <class Fn>
  Grid(const Shape& shape, Fn&& fn) : shape_(shape) {
    each_index(shape_, [&](const Index& index) { values_.push_back(fn(index)); });
  }

  const Shape& shape() const { return shape_; }
  const std::vector<double>& values() const { return values_; }
  // `outside` where an index is out of range.
  double at(const Index& index, double outside = 0) const;
  // By the index of a shape that this one broadcasts to.
  double spread(const Index& index) const;

 private:
  Shape shape_;
  std::vector<double> values_;
};

// Relative to the larger of 1 and the value; 0: exactly. A NaN equals a NaN, an infinity itself.
void expect_grid(const Tensor& got, const Grid& want, double tolerance);

// Why the node is refused, checked as a reader and the host do: one line, no fault of our own.
std::string refusal(const Node& node, const std::vector<Tensor>& inputs);

// The type of the first output, all inputs known; else why there is none.
std::string inferred(const Node& node, const std::vector<Tensor>& inputs);

// The lowering with all inputs but the first known.
Lowering lowered(const Node& node, const std::vector<Tensor>& inputs,
                 View preferred = View::kChannelsFirst);

std::string word(const char* text);

Tensor i64s(const std::vector<int64_t>& values);

// 0, 1, 2, ...
Tensor counting(const Shape& shape);

}  // namespace clvet::test
