// ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare. Sums are kept in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"

namespace clvet {
namespace {

// Which axes are reduced; all where nothing says otherwise.
Result<std::vector<bool>> reduced_axes(const OpCall& call) {
  const auto rank = static_cast<int64_t>(call.shape(0).size());
  std::vector<int64_t> axes;
  if (call.has(1)) {
    CLVET_ASSIGN_OR_RETURN(axes, call.integers(1));
  } else if (const auto* list = call.node.ints_attr("axes")) {
    axes = *list;
  }
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
double plain(double sum, double) { return sum; }
const Kind kKinds[] = {
    {"ReduceSum", 0, [](double s, double x) { return s + x; }, plain},
    {"ReduceMean", 0, [](double s, double x) { return s + x; },
     [](double s, double n) { return s / n; }},
    {"ReduceMax", -kInf, [](double s, double x) { return x > s || std::isnan(x) ? x : s; }, plain},
    {"ReduceMin", kInf, [](double s, double x) { return x < s || std::isnan(x) ? x : s; }, plain},
    {"ReduceProd", 1, [](double s, double x) { return s * x; }, plain},
    {"ReduceL1", 0, [](double s, double x) { return s + std::fabs(x); }, plain},
    {"ReduceL2", 0, [](double s, double x) { return s + x * x; },
     [](double s, double) { return std::sqrt(s); }},
    {"ReduceLogSum", 0, [](double s, double x) { return s + x; },
     [](double s, double) { return std::log(s); }},
    {"ReduceLogSumExp", 0, [](double s, double x) { return s + std::exp(x); },
     [](double s, double) { return std::log(s); }},
    {"ReduceSumSquare", 0, [](double s, double x) { return s + x * x; }, plain},
};

const Kind& kind_of(std::string_view op) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const Kind& kind) { return kind.name == op; });
}

template <class T>
T narrow(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (value <= static_cast<double>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    if (value >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

template <class T>
void run(const Kind& kind, const Tensor& x, const std::vector<bool>& reduced, Tensor& y) {
  Shape kept = x.shape();
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = reduced[i] ? 1 : kept[i];
  const std::vector<int64_t> strides[1] = {broadcast_strides(kept, x.shape())};
  std::vector<double> sums(static_cast<size_t>(y.elements()), kind.start);
  const T* in = x.data<T>();
  const int64_t n = x.rank() ? x.shape().back() : 1;
  const int64_t step = x.rank() ? strides[0].back() : 0;
  for_each_row(x.shape(), strides, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < n; ++i) {
      double& sum = sums[at[0] + i * step];
      sum = kind.add(sum, static_cast<double>(*in++));
    }
  });
  const double count = y.elements() ? static_cast<double>(x.elements() / y.elements()) : 1;
  for (size_t i = 0; i < sums.size(); ++i) y.data<T>()[i] = narrow<T>(kind.finish(sums[i], count));
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

Lowering lower(const OpCall& call, View) {
  const bool mean = call.node.op == "ReduceMean", max = call.node.op == "ReduceMax";
  const auto reduced = reduced_axes(call);
  const bool spatial = reduced && *reduced == std::vector<bool>{false, false, true, true};
  if (!on_device(call.type(0).dtype) || !(mean || max) || !spatial) {
    return host_only("no kernel computes " + call.node.op + " over these axes");
  }
  LoweredCall lowered;
  lowered.op = "pool_global";
  put_nhwc(*view_of(call.shape(0), View::kChannelsFirst), lowered.dims);
  lowered.dims["kind"] = max ? 0 : 1;
  lowered.inputs = {{"x", 0, View::kChannelsFirst}};
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef op_reduce;
const OpDef op_reduce{
    .names = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
              "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"},
    .inputs = "T l?",
    .types = "fiub",
    .attributes = "axes:I keepdims:i noop_with_empty_axes:i",
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet
