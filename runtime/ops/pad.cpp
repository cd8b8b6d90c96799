// Pad: constant, reflect, edge, wrap; axis after axis.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_pad {
namespace {

struct Pads {
  std::vector<int64_t> begin, end;  // by axis; negative ones cut
};

Result<Pads> pads_of(const OpCall& call) {
  const auto rank = static_cast<int64_t>(call.shape(0).size());
  std::vector<int64_t> list, axes;
  if (call.has(1)) {
    CLVET_ASSIGN_OR_RETURN(list, call.integers(1));
  } else if (const auto* attribute = call.node.ints_attr("pads")) {
    list = *attribute;
  }
  if (call.has(3)) {
    CLVET_ASSIGN_OR_RETURN(axes, call.integers(3));
  } else {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (list.size() != 2 * axes.size()) {
    return fail(ErrorCode::kInvalidArgument, "Pad has {} pads for {} axes, not two for each",
                list.size(), axes.size());
  }
  Pads pads{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(axes[i], rank));
    pads.begin[axis] = list[i];
    pads.end[axis] = list[i + axes.size()];
  }
  return pads;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Pads pads, pads_of(call));
  const std::string mode = call.node.string_attr("mode", "constant");
  TensorType out = call.type(0);
  for (size_t i = 0; i < out.shape.size(); ++i) {
    int64_t& extent = out.shape[i];
    const int64_t limit = int64_t{1} << 40;
    if (std::max(pads.begin[i], pads.end[i]) > limit ||
        std::min(pads.begin[i], pads.end[i]) < -limit || extent + pads.begin[i] + pads.end[i] < 0 ||
        (extent == 0 && mode != "constant" && pads.begin[i] + pads.end[i] > 0)) {
      return fail(ErrorCode::kInvalidArgument, "Pad cannot extend {} by {} and {} on axis {}",
                  to_string(out.shape), pads.begin[i], pads.end[i], i);
    }
    extent += pads.begin[i] + pads.end[i];
  }
  return Types{out};
}

// The source index of position `at`, or -1 for the constant.
int64_t source(const std::string& mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == "edge") return std::clamp<int64_t>(at, 0, extent - 1);
  if (mode == "wrap") return (at % extent + extent) % extent;
  if (mode == "constant") return -1;
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  const int64_t phase = (at % period + period) % period;
  return phase < extent ? phase : period - phase;
}

// One value of the input's type; as an attribute, older models have it.
Result<Tensor> fill_of(const OpCall& call) {
  if (call.has(2) && call.tensor(2).elements()) return call.tensor(2);
  return Tensor::scalar(call.node.float_attr("value", 0)).cast(call.type(0).dtype);
}

template <class T>
void run(const OpCall& call, const Pads& pads, T fill, Tensor& out) {
  const std::string mode = call.node.string_attr("mode", "constant");
  const Shape& shape = out.shape();
  const std::vector<int64_t> strides = strides_of(call.shape(0));
  std::vector<std::vector<int64_t>> maps;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> map;
    for (int64_t i = 0; i < shape[axis]; ++i) {
      map.push_back(source(mode, i - pads.begin[axis], call.shape(0)[axis]));
    }
    maps.push_back(std::move(map));
  }
  const T* x = call.tensor(0).data<T>();
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < out.elements(); ++i) {
    int64_t at = 0;
    for (size_t axis = 0; axis < shape.size() && at >= 0; ++axis) {
      const int64_t from = maps[axis][index[axis]];
      at = from < 0 ? -1 : at + from * strides[axis];
    }
    out.data<T>()[i] = at < 0 ? fill : x[at];
    for (size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Pads pads, pads_of(call));
  CLVET_ASSIGN_OR_RETURN(const Tensor fill, fill_of(call));
  visit_size(size_of(call.type(0).dtype),
             [&]<class T>() { run<T>(call, pads, *fill.data<T>(), outputs[0]); });
  return {};
}

// The extents before and after, and the padding in front; false where nothing is left of an axis.
bool put_extents(const Shape& shape, const Pads& pads, const View& view, Dims& dims) {
  const std::vector<int64_t> order = view.order(shape.size());
  const char* const letters[] = {"C", "W", "H", "N"};
  for (size_t i = 0; i < 4; ++i) {
    const bool real = i < order.size();
    const auto axis = static_cast<size_t>(real ? order[order.size() - 1 - i] : 0);
    const int64_t begin = real ? pads.begin[axis] : 0, end = real ? pads.end[axis] : 0;
    const int64_t extent = real ? shape[axis] : 1;
    dims[letters[i]] = extent;
    dims[std::string("O") + letters[i]] = extent + begin + end;
    dims[std::string("P_") + letters[i]] = begin;
    if (extent + begin + end < 1) return false;
  }
  return true;
}

double constant_fill(const OpCall& call) {
  if (call.has(2) && call.inputs[2].value->elements() > 0) {
    return call.inputs[2].value->to_f64()[0];
  }
  return call.node.float_attr("value", 0);
}

Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto pads = pads_of(call);
  if (!pads) return host_only(pads.error().message);
  if (call.has(2) && !call.inputs[2].value)
    return host_only("its fill value is computed at run time");
  const Shape& shape = call.shape(0);
  const std::vector<std::string> modes = {"constant", "edge", "reflect", "wrap"};
  const auto mode =
      std::find(modes.begin(), modes.end(), call.node.string_attr("mode", "constant"));
  if (mode == modes.end() || shape.size() > 4)
    return host_only("no kernel supports its mode or rank");
  const View view = usable_view(shape, preferred);
  LoweredCall lowered;
  lowered.op = "pad";
  lowered.view = view;
  lowered.inputs = {{"x", 0, view}};
  lowered.dims["mode"] = mode - modes.begin();
  if (!put_extents(shape, *pads, view, lowered.dims)) return host_only("a tensor has no elements");
  lowered.scalars["value"] = constant_fill(call);
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Pad"},
    .since = 2,
    .inputs = "T l? T? i?",
    .types = "fiub",
    .wants_known = {1, 2, 3},
    .attributes = "mode:s=constant|reflect|edge|wrap pads:I value:f",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_pad
