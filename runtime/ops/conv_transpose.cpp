// ConvTranspose: GEMM and col2im.
#include <algorithm>

#include "runtime/host/gemm.h"
#include "runtime/ops/support/shapes.h"
#include "runtime/ops/support/window.h"

namespace clvet {
namespace {

Result<SlidingWindow> check(const OpCall& call) {
  const Shape &x = call.shape(0), &w = call.shape(1);
  const int64_t group = call.node.int_attr("group", 1);
  if (x.size() < 3 || x.size() != w.size() || group < 1 || x[1] % group || x[1] != w[0]) {
    return fail(ErrorCode::kInvalidArgument, "ConvTranspose of {} by weights {} in {} groups",
                to_string(x), to_string(w), group);
  }
  if (call.has(2) && call.shape(2) != Shape{w[1] * group}) {
    return fail(ErrorCode::kInvalidArgument, "ConvTranspose's bias is {} for {} channels",
                to_string(call.shape(2)), w[1] * group);
  }
  return transposed_window_of(call.node, x, Shape(w.begin() + 2, w.end()));
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const SlidingWindow window, check(call));
  const int64_t channels = call.shape(1)[1] * call.node.int_attr("group", 1);
  return Types{{call.type(0).dtype, window.output_shape({call.shape(0)[0], channels})}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const SlidingWindow window, check(call));
  const Tensor &x = call.tensor(0), &w = call.tensor(1);
  const int64_t group = call.node.int_attr("group", 1);
  const int64_t cg = x.dim(1) / group, ocg = w.dim(1), size = window.in_size();
  const int64_t rows = ocg * window.taps();
  float* y = outputs[0].data<float>();
  if (call.has(2)) {
    const float* bias = call.tensor(2).data<float>();
    for (int64_t i = 0; i < x.dim(0) * ocg * group; ++i) {
      std::fill_n(y + i * window.out_size(), window.out_size(), bias[i % (ocg * group)]);
    }
  }
  std::vector<float> matrix(static_cast<size_t>(rows * size));
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t g = 0; g < group; ++g) {
      const MatrixView weights{w.data<float>() + g * cg * rows, rows, cg, rows, true};
      const MatrixView in{x.data<float>() + (n * group + g) * cg * size, cg, size, size};
      gemm(weights, in, matrix.data(), size, false);
      col2im(window, matrix.data(), ocg, y + (n * group + g) * ocg * window.out_size());
    }
  }
  return {};
}

}  // namespace

extern const OpDef op_conv_transpose;
const OpDef op_conv_transpose{
    .names = {"ConvTranspose"},
    .inputs = "T T T?",
    .types = "s",
    .attributes =
        "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I "
        "pads:I strides:I",
    .infer = infer,
    .host = host,
};

}  // namespace clvet
