// Single nodes and tensors for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
struct OpCall;
}

namespace clvet::test {

// A node outside any graph.
Node make_node(const std::string& op, size_t inputs, Attributes attributes = {}, int opset = 13,
               size_t outputs = 1);

// An operator of com.microsoft.
Node microsoft_node(const std::string& op, size_t inputs, Attributes attributes = {},
                    size_t outputs = 1);

Result<std::vector<Tensor>> run_op(const Node& node, const std::vector<Tensor>& inputs);
// The first output, which must be there.
Tensor run_one(const Node& node, const std::vector<Tensor>& inputs);

// The call as inference and lowering see it; `constant` says which inputs are known. It refers to
// both arguments.
OpCall make_call(const Node& node, const std::vector<Tensor>& inputs,
                 const std::vector<bool>& constant);

std::vector<int64_t> list(std::initializer_list<int64_t> values);

// Calls fn() with each width of vectors that this machine has (runtime/host/width.h).
void at_each_width(const std::function<void()>& fn);

// The values of a tensor that must be of f32.
std::vector<float> floats(const Tensor& tensor);

// Deterministic values in -1..1.
Tensor noise(const Shape& shape, uint32_t seed = 1);

// Of one type and, element by element, apart by at most `relative` of the larger of 1 and `want`.
void expect_near(const Tensor& got, const Tensor& want, double relative = 1e-5);

}  // namespace clvet::test
