// Plain float64 loops over multi-indices, for references that follow the text of ONNX.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/op_def.h"
#include "runtime/ops/view.h"
#include "tests/runtime/helpers.h"

namespace clvet::test {

using Index = std::vector<int64_t>;

// Calls fn(index) for every index of `shape`, the last axis fastest.
template <class Fn>
void each_index(const Shape& shape, Fn&& fn) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  Index index(shape.size(), 0);
  for (;;) {
    fn(std::as_const(index));
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// Numbers by multi-index.
class Grid {
 public:
  explicit Grid(const Tensor& tensor) : shape_(tensor.shape()), values_(tensor.to_f64()) {}
  // fn(index) at each index.
  template <class Fn>
  Grid(Shape shape, Fn&& fn) : shape_(std::move(shape)) {
    each_index(shape_, [&](const Index& index) { values_.push_back(fn(index)); });
  }

  const Shape& shape() const { return shape_; }
  const std::vector<double>& values() const { return values_; }
  // `outside` where an index is out of range.
  double at(const Index& index, double outside = 0) const {
    size_t offset = 0;
    for (size_t i = 0; i < shape_.size(); ++i) {
      if (index.at(i) < 0 || index[i] >= shape_[i]) return outside;
      offset = offset * static_cast<size_t>(shape_[i]) + static_cast<size_t>(index[i]);
    }
    return values_.at(offset);
  }
  // By the index of a shape that this one broadcasts to.
  double spread(const Index& index) const {
    Index own(index.end() - static_cast<ptrdiff_t>(shape_.size()), index.end());
    for (size_t i = 0; i < own.size(); ++i) own[i] = shape_[i] == 1 ? 0 : own[i];
    return at(own);
  }

 private:
  Shape shape_;
  std::vector<double> values_;
};

// Relative to the larger of 1 and the value; 0: exactly. A NaN equals a NaN, an infinity itself.
inline void expect_grid(const Tensor& got, const Grid& want, double tolerance) {
  ASSERT_EQ(to_string(got.shape()), to_string(want.shape()));
  const std::vector<double> values = got.to_f64();
  for (size_t i = 0; i < values.size(); ++i) {
    const double wanted = want.values()[i];
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    } else if (std::isinf(wanted) || tolerance == 0) {
      ASSERT_EQ(values[i], wanted) << "element " << i;
    } else {
      ASSERT_NEAR(values[i], wanted, tolerance * std::max(1.0, std::abs(wanted)))
          << "element " << i;
    }
  }
}

// Why the node is refused, checked as a reader and the host do: one line, no fault of our own.
inline std::string refusal(const Node& node, const std::vector<Tensor>& inputs) {
  Error error;
  if (const Status fits = check_node(*node.def, node); !fits) {
    error = fits.error();
  } else if (const auto outputs = run_op(node, inputs); !outputs) {
    error = outputs.error();
  } else {
    return "(accepted)";
  }
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  EXPECT_NE(error.code, ErrorCode::kInternal) << error.message;
  return error.message;
}

// The type of the first output, all inputs known; else why there is none.
inline std::string inferred(const Node& node, const std::vector<Tensor>& inputs) {
  const auto types = infer_node(make_call(node, inputs, std::vector<bool>(inputs.size(), true)));
  return types ? to_string(types->at(0)) : types.error().message;
}

// The lowering with all inputs but the first known.
inline Lowering lowered(const Node& node, const std::vector<Tensor>& inputs,
                        View preferred = View::kChannelsFirst) {
  std::vector<bool> known(inputs.size(), true);
  known[0] = false;
  return lower_node(make_call(node, inputs, known), preferred);
}

inline std::string word(const char* text) { return text; }

inline Tensor i64s(const std::vector<int64_t>& values) {
  return Tensor::from<int64_t>({static_cast<int64_t>(values.size())}, values);
}

// 0, 1, 2, ...
inline Tensor counting(const Shape& shape) {
  Tensor tensor = Tensor::create(DType::kF32, shape).value();
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i);
  return tensor;
}

}  // namespace clvet::test
