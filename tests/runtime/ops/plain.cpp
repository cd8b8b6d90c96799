#include "tests/runtime/ops/plain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "tests/runtime/helpers.h"

namespace clvet::test {

bool first_index(const Shape& shape, Index& index) {
  index.assign(shape.size(), 0);
  return std::find(shape.begin(), shape.end(), 0) == shape.end();
}

bool next_index(const Shape& shape, Index& index) {
  size_t axis = shape.size();
  while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
  return axis > 0;
}

Grid::Grid(const Tensor& tensor) : shape_(tensor.shape()), values_(tensor.to_f64()) {}

double Grid::at(const Index& index, double outside) const {
  size_t offset = 0;
  for (size_t i = 0; i < shape_.size(); ++i) {
    if (index.at(i) < 0 || index[i] >= shape_[i]) return outside;
    offset = offset * static_cast<size_t>(shape_[i]) + static_cast<size_t>(index[i]);
  }
  return values_.at(offset);
}

double Grid::spread(const Index& index) const {
  Index own(index.end() - static_cast<ptrdiff_t>(shape_.size()), index.end());
  for (size_t i = 0; i < own.size(); ++i) own[i] = shape_[i] == 1 ? 0 : own[i];
  return at(own);
}

void expect_grid(const Tensor& got, const Grid& want, double tolerance) {
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

std::string refusal(const Node& node, const std::vector<Tensor>& inputs) {
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

std::string inferred(const Node& node, const std::vector<Tensor>& inputs) {
  const auto types = infer_node(make_call(node, inputs, std::vector<bool>(inputs.size(), true)));
  return types ? to_string(types->at(0)) : types.error().message;
}

Lowering lowered(const Node& node, const std::vector<Tensor>& inputs, View preferred) {
  std::vector<bool> known(inputs.size(), true);
  known[0] = false;
  return lower_node(make_call(node, inputs, known), preferred);
}

std::string word(const char* text) { return text; }

Tensor i64s(const std::vector<int64_t>& values) {
  return Tensor::from<int64_t>({static_cast<int64_t>(values.size())}, values);
}

Tensor counting(const Shape& shape) {
  Tensor tensor = Tensor::create(DType::kF32, shape).value();
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i);
  return tensor;
}

}  // namespace clvet::test
