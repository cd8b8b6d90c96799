// CenterCropPad: each axis is cut or padded with zeros on both sides.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_center_crop_pad {
namespace {

Result<Types> infer(const OpCall& call) {
  const auto rank = static_cast<int64_t>(call.shape(0).size());
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, call.integers(1));
  std::vector<int64_t> axes;
  if (const auto* given = call.node.ints_attr("axes")) {
    for (const int64_t axis : *given) {
      CLVET_ASSIGN_OR_RETURN(const int64_t normal, normal_axis(axis, rank));
      axes.push_back(normal);
    }
    CLVET_RETURN_IF_ERROR(normal_axes(axes, rank));
  } else {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (call.shape(1).size() != 1 || wanted.size() != axes.size()) return misfit(call, 0, 1);
  Shape out = call.shape(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (wanted[i] < 0) return bad_value(call, 1, static_cast<double>(wanted[i]));
    out[static_cast<size_t>(axes[i])] = wanted[i];
  }
  return Types{{call.type(0).dtype, out}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Shape &in = call.shape(0), &out = outputs[0].shape();
  const std::vector<int64_t> strides[2] = {strides_of(in), strides_of(out)};
  int64_t from = 0, to = 0;
  Shape shared = in;
  for (size_t i = 0; i < in.size(); ++i) {
    shared[i] = std::min(in[i], out[i]);
    from += (in[i] - shared[i]) / 2 * strides[0][i];
    to += (out[i] - shared[i]) / 2 * strides[1][i];
  }
  visit_size(size_of(call.type(0).dtype), [&]<class T>() {
    const T* x = call.tensor(0).data<T>();
    T* y = outputs[0].data<T>();
    for_each_row(shared, strides, [&](const int64_t(&at)[2]) {
      for (int64_t i = 0; i < (shared.empty() ? 1 : shared.back()); ++i)
        y[to + at[1] + i] = x[from + at[0] + i];
    });
  });
  return {};
}

std::vector<Term> steps(Steps& s) {
  const auto types = infer(s.call());
  if (!types) return {};
  const Shape &in = s.call().shape(0), &out = (*types)[0].shape;
  std::vector<int64_t> starts, ends, axes, before, after;
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t shared = std::min(in[i], out[i]);
    starts.push_back((in[i] - shared) / 2);
    ends.push_back(starts.back() + shared);
    axes.push_back(static_cast<int64_t>(i));
    before.push_back((out[i] - shared) / 2);
    after.push_back(out[i] - shared - before.back());
  }
  const bool cuts = starts != std::vector<int64_t>(in.size(), 0) || ends != in;
  Term x = s.input(0);
  if (cuts) x = s.one("Slice", {x, integers(starts), integers(ends), integers(axes)});
  if (x.shape() == out) return {x};
  before.insert(before.end(), after.begin(), after.end());
  return {s.one("Pad", {x, integers(before)})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"CenterCropPad"},
    .since = 18,
    .inputs = "* i",
    .attributes = "axes:I",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_center_crop_pad
