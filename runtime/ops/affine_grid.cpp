// AffineGrid: the positions that an affine map makes of a grid over an image or a volume.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_affine_grid {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape& theta = call.shape(0);
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> size, call.integers(1));
  if (call.shape(1).size() != 1 || (size.size() != 4 && size.size() != 5))
    return bad_shape(call, 1);
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if (theta != Shape{size[0], axes, axes + 1}) return misfit(call, 0, 1);
  Shape out{size[0]};
  out.insert(out.end(), size.begin() + 2, size.end());
  for (const int64_t extent : out) {
    if (extent < 0) return bad_value(call, 1, static_cast<double>(extent));
  }
  out.push_back(axes);
  return Types{{call.type(0).dtype, out}};
}

double position(int64_t index, int64_t extent, bool align) {
  const auto n = static_cast<double>(extent), i = static_cast<double>(index);
  if (!align) return (2 * i + 1) / n - 1;
  return extent == 1 ? 0 : 2 * i / (n - 1) - 1;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const bool align = call.node.int_attr("align_corners", 0) != 0;
  const Shape& out = outputs[0].shape();
  const int64_t axes = out.back(), places = outputs[0].elements() / axes / out[0];
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    const T* theta = call.tensor(0).data<T>();
    T* y = outputs[0].data<T>();
    for (int64_t at = 0; at < out[0] * places; ++at) {
      std::array<double, 4> from{};  // x, y, z, and 1
      int64_t left = at % places;
      for (int64_t k = 0; k < axes; ++k) {
        const int64_t extent = out[static_cast<size_t>(axes - k)];
        from[static_cast<size_t>(k)] = position(left % extent, extent, align);
        left /= extent;
      }
      from[static_cast<size_t>(axes)] = 1;
      const T* rows = theta + at / places * axes * (axes + 1);
      for (int64_t r = 0; r < axes; ++r) {
        double sum = 0;
        for (int64_t k = 0; k <= axes; ++k)
          sum += static_cast<double>(rows[r * (axes + 1) + k]) * from[static_cast<size_t>(k)];
        *y++ = static_cast<T>(sum);
      }
    }
  });
}

// The positions times the map.
std::vector<Term> steps(Steps& s) {
  const auto types = infer(s.call());
  if (!types || elements_of((*types)[0].shape) == 0) return {};
  const bool align = s.call().node.int_attr("align_corners", 0) != 0;
  const Shape& out = (*types)[0].shape;
  const int64_t axes = out.back(), places = elements_of(out) / axes / out[0];
  std::vector<float> from;
  for (int64_t at = 0; at < places; ++at) {
    int64_t left = at;
    for (int64_t k = 0; k < axes; ++k) {
      const int64_t extent = out[static_cast<size_t>(axes - k)];
      from.push_back(static_cast<float>(position(left % extent, extent, align)));
      left /= extent;
    }
    from.push_back(1);
  }
  const Term grid =
      constant_term(Tensor::from({1, places, axes + 1}, std::span<const float>(from)));
  return {s.reshaped(s.one("MatMul", {grid, s.transposed(s.input(0), {0, 2, 1})}), out)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"AffineGrid"},
    .since = 20,
    .inputs = "T l",
    .attributes = "align_corners:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_affine_grid
