#include "tests/conformance/compare.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"

namespace clvet::conformance {
namespace {

bool close(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::isfinite(got) && std::isfinite(expected) &&
         std::abs(got - expected) <= kAbsolute + kRelative * std::abs(expected);
}

template <class T, class Same>
std::string first_difference(const std::vector<T>& got, const std::vector<T>& expected, Same same) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (!same(got[i], expected[i])) {
      return fmt::format("element {} is {}, not {}", i, got[i], expected[i]);
    }
  }
  return {};
}

}  // namespace

std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.type() != expected.type()) {
    return fmt::format("{}, not {}", to_string(got.type()), to_string(expected.type()));
  }
  if (is_float(expected.dtype())) return first_difference(got.to_f64(), expected.to_f64(), close);
  return first_difference(got.to_i64(), expected.to_i64(), std::equal_to<>());
}

}  // namespace clvet::conformance
