#include "runtime/run/random_inputs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bfloat.h"
#include "base/half.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// The bits of the generator, not a distribution of the library's: those differ between libraries.
template <class T>
T value_of(uint64_t bits) {
  const double unit = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  if constexpr (std::is_same_v<T, Half>) {
    return Half{float_to_half(static_cast<float>(unit))};
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return Bfloat{double_to_bfloat(unit)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(unit);
  } else {
    return static_cast<T>(bits >> 63);
  }
}

Result<Tensor> random_tensor(DType dtype, const Shape& shape, std::mt19937_64& numbers) {
  CLVET_RETURN_IF_ERROR(checked_elements(shape));
  CLVET_ASSIGN_OR_RETURN(Tensor tensor, Tensor::create(dtype, shape));
  visit(dtype, [&]<class T>() {
    T* values = tensor.data<T>();
    for (int64_t i = 0; i < tensor.elements(); ++i) values[i] = value_of<T>(numbers());
  });
  return tensor;
}

}  // namespace

Result<std::map<std::string, Tensor>> random_inputs(const Graph& graph,
                                                    const std::map<std::string, Shape>& shapes,
                                                    uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  std::mt19937_64 numbers(seed);
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[static_cast<size_t>(id)];
    const auto given = shapes.find(value.name);
    const auto shape = given != shapes.end() ? std::optional(given->second) : value.shape;
    const bool open = !shape || !value.dtype ||
                      std::any_of(shape->begin(), shape->end(), [](int64_t n) { return n < 0; });
    if (open)
      return fail(ErrorCode::kInvalidArgument,
                  "the extents of input '{}' are open: give its shape ({}=1x3x...) or its values",
                  value.name, value.name);
    CLVET_ASSIGN_OR_RETURN(inputs[value.name], random_tensor(*value.dtype, *shape, numbers));
  }
  for (const auto& [name, shape] : shapes) {
    if (!inputs.contains(name))
      return fail(ErrorCode::kInvalidArgument, "--shape: the model has no input '{}'", name);
  }
  return inputs;
}

std::vector<int32_t> random_tokens(int64_t count, int64_t vocabulary, uint64_t seed) {
  std::mt19937_64 numbers(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens)
    token = static_cast<int32_t>(numbers() % static_cast<uint64_t>(vocabulary));
  return tokens;
}

}  // namespace clvet
