// ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare. Sums are kept in double,
// those of integers in 64 bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_reduce {
namespace {

// Which axes are reduced; all where nothing says otherwise.
Result<std::vector<bool>> reduced_axes(const OpCall& call) {
  const auto rank = static_cast<int64_t>(call.shape(0).size());
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> axes, axes_given(call));
  const bool none = axes.empty();
  CLVET_ASSIGN_OR_RETURN(axes, normal_axes(std::move(axes), rank));
  std::vector<bool> reduced(static_cast<size_t>(rank),
                            none && !call.node.int_attr("noop_with_empty_axes", 0));
  for (const int64_t axis : axes) reduced[axis] = true;
  return reduced;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<bool> reduced, reduced_axes(call));
  const bool keep = call.node.int_attr("keepdims", 1) != 0;
  TensorType out{call.type(0).dtype, {}};
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i])
      out.shape.push_back(call.shape(0)[i]);
    else if (keep)
      out.shape.push_back(1);
  }
  return Types{out};
}

struct Kind {
  std::string_view name;
  double start;
  double (*add)(double sum, double x);
  double (*finish)(double sum, double count);
};

constexpr double kInf = std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b)) of any size.
double add_logarithms(double a, double b) {
  if (a == b) return a + std::numbers::ln2;
  const double high = a > b ? a : b, low = a > b ? b : a;
  return high + std::log1p(std::exp(low - high));
}

double plain(double sum, double) { return sum; }
const Kind kKinds[] = {
    {"ReduceSum", 0, [](double s, double x) { return s + x; }, plain},
    {"ReduceMean", 0, [](double s, double x) { return s + x; },
     [](double s, double n) { return s / n; }},
    {"ReduceMax", -kInf, larger<double>, plain},
    {"ReduceMin", kInf, smaller<double>, plain},
    {"ReduceProd", 1, [](double s, double x) { return s * x; }, plain},
    {"ReduceL1", 0, [](double s, double x) { return s + std::fabs(x); }, plain},
    {"ReduceL2", 0, [](double s, double x) { return s + x * x; },
     [](double s, double) { return std::sqrt(s); }},
    {"ReduceLogSum", 0, [](double s, double x) { return s + x; },
     [](double s, double) { return std::log(s); }},
    {"ReduceLogSumExp", -kInf, add_logarithms, plain},
    {"ReduceSumSquare", 0, [](double s, double x) { return s + x * x; }, plain},
};

const Kind& kind_of(std::string_view op) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const Kind& kind) { return kind.name == op; });
}

// Those that stay whole on integers, which no double holds all of.
template <class Wide>
struct WholeKind {
  std::string_view name;
  Wide start;
  Wide (*add)(Wide sum, Wide x);
};

template <class Wide>
const WholeKind<Wide> kWholeKinds[] = {
    {"ReduceSum", 0, wrap_add<Wide>},
    {"ReduceMean", 0, wrap_add<Wide>},
    {"ReduceMax", std::numeric_limits<Wide>::min(), [](Wide s, Wide x) { return std::max(s, x); }},
    {"ReduceMin", std::numeric_limits<Wide>::max(), [](Wide s, Wide x) { return std::min(s, x); }},
    {"ReduceProd", 1, wrap_mul<Wide>},
    {"ReduceL1", 0, [](Wide s, Wide x) { return wrap_add(s, x < 0 ? wrap_sub(Wide{0}, x) : x); }},
    {"ReduceSumSquare", 0, [](Wide s, Wide x) { return wrap_add(s, wrap_mul(x, x)); }},
};

template <class T, class Sum>
T narrow(Sum value) {
  if constexpr (std::is_integral_v<T>) {
    if (value <= static_cast<Sum>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    if (value >= static_cast<Sum>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

// 1 for each reduced axis.
Shape kept_extents(Shape shape, const std::vector<bool>& reduced) {
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = reduced[i] ? 1 : shape[i];
  return shape;
}

template <class T, class Sum, class Finish>
void fold(Sum start, Sum (*add)(Sum, Sum), Finish finish, const Tensor& x,
          const std::vector<bool>& reduced, Tensor& y) {
  const Shape kept = kept_extents(x.shape(), reduced);
  const std::vector<int64_t> strides[1] = {broadcast_strides(kept, x.shape())};
  std::vector<Sum> sums(static_cast<size_t>(y.elements()), start);
  const T* in = x.data<T>();
  const int64_t n = x.rank() ? x.shape().back() : 1;
  const int64_t step = x.rank() ? strides[0].back() : 0;
  for_each_row(x.shape(), strides, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < n; ++i) {
      Sum& sum = sums[at[0] + i * step];
      sum = add(sum, static_cast<Sum>(*in++));
    }
  });
  const int64_t count = y.elements() ? x.elements() / y.elements() : 1;
  for (size_t i = 0; i < sums.size(); ++i) y.data<T>()[i] = narrow<T>(finish(sums[i], count));
}

template <class T>
void run(const Kind& kind, const Tensor& x, const std::vector<bool>& reduced, Tensor& y) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    for (const WholeKind<Wide>& whole : kWholeKinds<Wide>) {
      if (whole.name != kind.name) continue;
      const bool mean = whole.name == "ReduceMean";
      const auto finish = [&](Wide sum, int64_t count) {
        return mean && count ? static_cast<Wide>(sum / static_cast<Wide>(count)) : sum;
      };
      return fold<T>(whole.start, whole.add, finish, x, reduced, y);
    }
  }
  const auto finish = [&](double sum, int64_t count) {
    return kind.finish(sum, static_cast<double>(count));
  };
  fold<T>(kind.start, kind.add, finish, x, reduced, y);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<bool> reduced, reduced_axes(call));
  if (std::none_of(reduced.begin(), reduced.end(), [](bool r) { return r; }) &&
      call.node.int_attr("noop_with_empty_axes", 0)) {
    outputs[0] = call.tensor(0);
    return {};
  }
  const Kind& kind = kind_of(call.node.op);
  if (call.type(0).dtype == DType::kBool) {
    CLVET_ASSIGN_OR_RETURN(const Tensor wide, call.tensor(0).cast(DType::kU8));
    CLVET_ASSIGN_OR_RETURN(Tensor out, Tensor::create(DType::kU8, outputs[0].shape()));
    run<uint8_t>(kind, wide, reduced, out);
    CLVET_ASSIGN_OR_RETURN(outputs[0], out.cast(DType::kBool));
    return {};
  }
  return visit_numbers(call.type(0).dtype,
                       [&]<class T>() { run<T>(kind, call.tensor(0), reduced, outputs[0]); });
}

int64_t code_of(std::string_view op) {
  constexpr std::array names = {"ReduceSum",    "ReduceMean",     "ReduceMax", "ReduceMin",
                                "ReduceProd",   "ReduceL1",       "ReduceL2",  "ReduceSumSquare",
                                "ReduceLogSum", "ReduceLogSumExp"};
  return std::find(names.begin(), names.end(), op) - names.begin();
}

LoweredCall reduce_call(const OpCall& call, const Shape& shape, const View& view) {
  const Nhwc rows = *view_of(shape, view);
  LoweredCall lowered;
  lowered.op = "reduce";
  lowered.dims = {{"M", rows.rows()}, {"W", rows.w}, {"C", rows.c}};
  lowered.dims["code"] = code_of(call.node.op);
  put_activation(call.node.activation, lowered);
  lowered.inputs = {{"x", 0, view}};
  lowered.view = view;
  return lowered;
}

// The mean or the largest of each plane.
Lowering lower_planes(const OpCall& call) {
  LoweredCall lowered;
  lowered.op = "pool_global";
  put_nhwc(*view_of(call.shape(0), View::kChannelsFirst), lowered.dims);
  lowered.dims["kind"] = call.node.op == "ReduceMax" ? 0 : 1;
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  return kernel_call(std::move(lowered));
}

// The reduced axes that hold more than one value, or one axis where none does.
std::vector<size_t> axes_to_fold(const Shape& shape, const std::vector<bool>& reduced) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (reduced[i] && (shape[i] > 1 || axes.empty())) axes.push_back(i);
  }
  if (axes.size() > 1) std::erase_if(axes, [&](size_t axis) { return shape[axis] == 1; });
  return axes;
}

// A move that makes rows of the kept axes and c of the reduced ones.
std::optional<LoweredCall> matrix_call(const Shape& shape, const std::vector<bool>& reduced) {
  const std::vector<Step> steps = steps_of(shape, View::kChannelsLast);
  std::vector<MovedAxis> moved;
  Shape matrix{1, 1};
  for (const bool wanted : {false, true}) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (reduced[i] != wanted) continue;
      moved.push_back({shape[i], steps[i], wanted ? size_t{1} : size_t{0}});
      matrix[wanted] *= shape[i];
    }
  }
  auto call =
      move_call(*view_of(shape, View::kChannelsLast), matrix, View::kChannelsLast, moved, {});
  if (!call) return std::nullopt;
  call->output = kTemporary;
  call->temporary = matrix;
  return call;
}

// Calls that end in a temporary, as the output of `shape`.
Lowering placed(std::vector<LoweredCall> calls, const Shape& shape) {
  calls.back().output = kTemporary;
  auto call = reshape_call(calls.back().temporary, calls.back().view, shape);
  if (!call) return host_only(kTooManyAxes);
  call->inputs[0].input = -static_cast<int>(calls.size());
  calls.push_back(std::move(*call));
  return kernel_calls(std::move(calls));
}

// The reduced axes become c, alone or, several of them, by a move. What is left keeps the order of
// the axes.
Lowering lower_axes(const OpCall& call, const std::vector<bool>& reduced) {
  const Shape& shape = call.shape(0);
  const std::vector<size_t> axes = axes_to_fold(shape, reduced);
  const Shape out = (*infer(call))[0].shape;
  if (axes.size() == 1) {
    const Shape kept = kept_extents(shape, reduced);
    const View view = View::with_channels(static_cast<int64_t>(axes[0]), shape.size());
    LoweredCall rows = reduce_call(call, shape, view);
    if (out == kept) return kernel_call(std::move(rows));
    rows.temporary = kept;
    return placed({std::move(rows)}, out);
  }
  auto matrix = matrix_call(shape, reduced);
  if (!matrix) return host_only(kTooManyAxes);
  LoweredCall rows = reduce_call(call, matrix->temporary, View::kChannelsLast);
  rows.inputs[0].input = -1;
  rows.temporary = {matrix->temporary[0], 1};
  return placed({std::move(*matrix), std::move(rows)}, out);
}

Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto reduced = reduced_axes(call);
  if (!reduced) return host_only(reduced.error().message);
  if (call.shape(0).size() > kMaxViewRank) return host_only("a tensor has too many axes");
  const bool plain = call.node.activation.act == Act::kNone;
  if (std::none_of(reduced->begin(), reduced->end(), [](bool r) { return r; })) {
    if (plain && call.node.int_attr("noop_with_empty_axes", 0))
      return lower_reshape(call, preferred);
    return host_only("it reduces no axis");
  }
  const bool pools = plain && (call.node.op == "ReduceMean" || call.node.op == "ReduceMax");
  if (pools && *reduced == std::vector<bool>{false, false, true, true}) return lower_planes(call);
  return lower_axes(call, *reduced);
}

// Over no elements: what its start value alone gives.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto reduced = reduced_axes(call);
  const auto types = infer(call);
  if (!reduced || !types || elements_of(call.shape(0)) > 0) return {};
  const Shape kept = kept_extents(call.shape(0), *reduced);
  const auto axis = std::ranges::find(*reduced, true) - reduced->begin();
  if (elements_of(kept) == 0 || axis == std::ssize(*reduced)) return {};
  Shape none = kept;
  none[static_cast<size_t>(axis)] = 0;
  const bool mean = call.node.op == "ReduceMean";
  const double start =
      mean ? std::numeric_limits<double>::quiet_NaN() : kind_of(call.node.op).start;
  const std::vector<float> starts(static_cast<size_t>(elements_of(kept)),
                                  static_cast<float>(start));
  const Term both = s.one("Concat",
                          {s.reshaped(s.input(0), none),
                           constant_term(Tensor::from(kept, std::span<const float>(starts)))},
                          {{"axis", int64_t{axis}}});
  return {s.reshaped(s.reduced(call.node.op.c_str(), both, {int64_t{axis}}), (*types)[0].shape)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
              "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"},
    .inputs = "T l?",
    .types = "fiub",
    .attributes = "axes:I keepdims:i noop_with_empty_axes:i",
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
};

}  // namespace clvet::op_reduce
