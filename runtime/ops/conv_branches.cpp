// ConvBranches (runtime/ops/contract/steps_domain.h): a convolution by single pixels, another one
// of the same input, and their channels joined.
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_conv_branches {
namespace {

// Inputs of the node.
constexpr size_t kPixelFilters = 1, kPixelBias = 2, kWindowFilters = 3, kWindowBias = 4;
// Parts of constants; those of the window's convolution have the numbers that it gives them.
constexpr int64_t kOfPixels = -1, kOfBoth = -2;

// The two convolutions and what joins them, as nodes of their own.
struct Parts {
  Node pixel_node, window_node, join_node;
  OpCall pixels, window, join;

  explicit Parts(const OpCall& whole)
      : pixel_node(part_of(whole, "Conv")),
        window_node(part_of(whole, "Conv")),
        join_node(part_of(whole, "Concat")),
        pixels{pixel_node, inputs_of(whole, kPixelFilters, kPixelBias)},
        window{window_node, inputs_of(whole, kWindowFilters, kWindowBias)},
        join{join_node, {}} {
    for (const char* of_window : {"auto_pad", "dilations", "kernel_shape", "pads"})
      pixel_node.attributes.erase(of_window);
    join_node.attributes = {{"axis", int64_t{1}}};
    join_node.activation = {};
  }
  Parts(const Parts&) = delete;

  static const OpDef& conv() { return *find_op("", "Conv"); }
  static const OpDef& concat() { return *find_op("", "Concat"); }

  // Says what `join` gets.
  Status infer() {
    for (const OpCall* branch : {&pixels, &window}) {
      CLVET_ASSIGN_OR_RETURN(Types types, conv().infer(*branch));
      join.inputs.push_back({.type = std::move(types[0]), .value = nullptr, .present = true});
    }
    return {};
  }

 private:
  static Node part_of(const OpCall& whole, const char* op) {
    Node node = whole.node;
    node.op = op;
    node.domain = "";
    return node;
  }
  static std::vector<OpInput> inputs_of(const OpCall& whole, size_t filters, size_t bias) {
    return {whole.inputs[0], whole.inputs[filters],
            whole.has(bias) ? whole.inputs[bias] : OpInput()};
  }
};

Result<Types> infer(const OpCall& call) {
  Parts parts(call);
  CLVET_RETURN_IF_ERROR(parts.infer());
  return Parts::concat().infer(parts.join);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  Parts parts(call);
  CLVET_RETURN_IF_ERROR(parts.infer());
  std::array<std::vector<Tensor>, 2> made{std::vector<Tensor>(1), std::vector<Tensor>(1)};
  const std::array branches = {&parts.pixels, &parts.window};
  for (size_t i = 0; i < branches.size(); ++i) {
    OpInput& joined = parts.join.inputs[i];
    CLVET_ASSIGN_OR_RETURN(made[i][0], Tensor::create(joined.type.dtype, joined.type.shape));
    CLVET_RETURN_IF_ERROR(Parts::conv().host(*branches[i], made[i]));
    joined.value = made[i].data();
  }
  return Parts::concat().host(parts.join, outputs);
}

// What the call before number `calls` made.
LoweredInput made_before(size_t calls, LoweredInput input) {
  input.input = -static_cast<int>(calls);
  input.view = View::kChannelsLast;
  return input;
}

// The calls of both branches one behind the other, and those that join what the last of each made.
std::vector<LoweredCall> joined(std::vector<LoweredCall> calls, std::vector<LoweredCall> window,
                                std::vector<LoweredCall> join) {
  const size_t of_pixels = calls.size(), of_both = of_pixels + window.size();
  const auto moved = [](LoweredInput& input, size_t by) {
    if (input.input < 0) input.input -= static_cast<int>(by);
  };
  for (LoweredCall& call : window) {
    for (LoweredInput& input : call.inputs) moved(input, of_pixels);
  }
  calls.insert(calls.end(), std::make_move_iterator(window.begin()),
               std::make_move_iterator(window.end()));
  calls[of_pixels - 1].output = calls[of_both - 1].output = kTemporary;
  for (LoweredCall& call : join) {
    for (LoweredInput& input : call.inputs) {
      if (input.input < 0)
        moved(input, of_both);
      else
        input = made_before(input.input == 0 ? of_pixels : of_both, std::move(input));
    }
  }
  calls.insert(calls.end(), std::make_move_iterator(join.begin()),
               std::make_move_iterator(join.end()));
  return calls;
}

// Both at once.
LoweredCall whole_call(const OpCall& call, const LoweredCall& window) {
  LoweredCall whole = window;
  const int64_t of_pixels = call.shape(kPixelFilters)[0];
  whole.op = "conv2d_branches";
  whole.dims["P"] = of_pixels;
  whole.dims["OC"] += of_pixels;
  whole.constants = {{"w_pixel", kOfPixels}, {"w_window"}, {"bias", kOfBoth}};
  return whole;
}

Lowering lower(const OpCall& call, View preferred) {
  Parts parts(call);
  if (const Status fit = parts.infer(); !fit) return host_only(fit.error().message);
  Lowering pixels = Parts::conv().lower(parts.pixels, preferred);
  if (pixels.kind != LoweringKind::kKernel) return pixels;
  for (LoweredCall& one : pixels.calls) {
    for (LoweredConstant& constant : one.constants) constant.part = kOfPixels;
  }
  Lowering window = Parts::conv().lower(parts.window, preferred);
  if (window.kind != LoweringKind::kKernel) return window;
  const Lowering join = Parts::concat().lower(parts.join, View::kChannelsFirst);
  if (join.kind != LoweringKind::kKernel) return join;
  const LoweredCall whole = whole_call(call, window.calls[0]);
  Lowering lowering = kernel_calls(joined(pixels.calls, std::move(window.calls), join.calls));
  // Another way of the window's convolution saves a part of its time, and nothing of the rest.
  const auto of_all = [](double most) { return (1 + most) / 2; };
  for (OtherCalls& other : window.others) {
    lowering.others.push_back(
        {joined(pixels.calls, std::move(other.calls), join.calls), of_all(other.most)});
  }
  lowering.others.push_back({{whole}, 1});
  return lowering;
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  const Parts parts(call);
  const bool of_pixels = which.part == kOfPixels;
  if (which.part == kOfBoth) {
    Values values = Parts::conv().constant(parts.pixels, {"bias"});
    const Values behind = Parts::conv().constant(parts.window, {"bias"});
    values.insert(values.end(), behind.begin(), behind.end());
    return values;
  }
  const char* role = which.role == "bias" ? "bias" : "w";
  return Parts::conv().constant(of_pixels ? parts.pixels : parts.window,
                                {role, of_pixels ? 0 : which.part});
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kConvBranches.data()},
    .domain = kStepsDomain,
    .inputs = "T T T? T T?",
    .wants_known = {1, 2, 3, 4},
    .attributes = "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I",
    .activates = true,
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_conv_branches
