// What clvet knows of an ONNX operator. One OpDef a file in runtime/ops/, `op_<stem>::def`;
// the table of them is written by CMake from that folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/view.h"

namespace clvet {

class Steps;  // runtime/ops/support/steps.h
struct Term;

// One input of a node as far as it is known: always its type, its value where that is constant (in
// inference and lowering) or always (on the host).
struct OpInput {
  TensorType type;
  const Tensor* value = nullptr;
  bool present = false;  // false: an optional input that the node does not have
};

struct OpCall {
  const Node& node;
  std::vector<OpInput> inputs;

  bool has(size_t i) const { return i < inputs.size() && inputs[i].present; }
  const TensorType& type(size_t i) const { return inputs[i].type; }
  const Shape& shape(size_t i) const { return inputs[i].type.shape; }
  // On the host only, for a present input.
  const Tensor& tensor(size_t i) const { return *inputs[i].value; }
  // The values of an integer input; kUnavailable where they are not known yet.
  Result<std::vector<int64_t>> integers(size_t i) const;
};

struct LoweredInput {
  std::string role;  // role of the kernels contract: "x", "x2"
  int input = 0;     // index in node.inputs; below 0: what call -1 - input of the lowering made
  View view = View::kChannelsFirst;
  size_t rank = 0;  // the view is of the input's shape with leading extents of 1 up to this rank
};

// A constant role ("w", "bias") whose values OpDef::constant makes; a role that a call does not
// list is zeros.
struct LoweredConstant {
  std::string role;
  int64_t part = 0;  // tells apart constants of one role in several calls of a node
};

enum class LoweringKind {
  kKernel,   // calls of kernels ops, one after the other
  kAlias,    // the output has the bytes of an input on the device: nothing to enqueue
  kNothing,  // no output has an element: nothing to compute
  kHost,     // only the host can; `reason` says why
};

// The output of a call that only later calls of the same lowering read.
inline constexpr int kTemporary = -1;

struct LoweredCall {
  std::string op;  // kernels op, "conv2d"
  Dims dims;
  Scalars scalars;
  std::vector<LoweredInput> inputs;
  std::vector<LoweredConstant> constants;
  int output = 0;                    // index in node.outputs of the role "y", or kTemporary
  View view = View::kChannelsFirst;  // of that output
  // Of a temporary, seen under `view`; empty: the contract's n, h, w and c under kChannelsLast.
  Shape temporary;
};

// Calls that compute the same as others within their bound at precision high, which the planner may
// take in their place where they are predicted to take at most this part of their time.
struct OtherCalls {
  std::vector<LoweredCall> calls;
  // Both are predictions, of kernels that were timed alone: in a network, what is larger than
  // before leaves the caches.
  double most = 0.8;
};

// What a node is on the device. The node's `activation` is already in dims and scalars.
struct Lowering {
  LoweringKind kind = LoweringKind::kHost;
  std::string reason;
  std::vector<LoweredCall> calls;    // kKernel
  std::vector<OtherCalls> others;    // of `calls`
  LoweredInput source;               // kAlias: of which input
  View view = View::kChannelsFirst;  // kAlias: of node.outputs[0]
};

Lowering kernel_call(LoweredCall call);
Lowering kernel_calls(std::vector<LoweredCall> calls);
Lowering host_only(std::string reason);
Lowering no_kernel(const OpCall& call);  // host_only: there is none for this operator

// An operator type, and the version of the operator set that brought it, where that is later than
// what its definition says.
struct OpName {
  std::string_view text;
  int since = 1;

  OpName(const char* name, int version = 1) : text(name), since(version) {}
};

inline constexpr std::string_view kMicrosoft = "com.microsoft";

struct OpDef {
  // Operator types with this definition, and the domain they belong to: "" is ONNX itself.
  std::vector<OpName> names;
  std::string_view domain = "";
  // Oldest and newest version of the operator set whose meaning is implemented.
  int since = 1;
  int until = 28;
  // One word an input: T (any of `types`, all T alike), i (i32 or i64), l (i64), f (f32, f64, f16
  // or bf16), b (bool), * (anything); with ? optional, last with + once or more, with * any number.
  std::string_view inputs = "T";
  std::string_view types =
      "f";  // classes T may be: f floats, s floats but f64, i signed, u unsigned, b bool
  // Inputs that are best known before planning (weights, bounds), besides those whose word is i, l
  // or b, or f behind the first input: a graph input that nothing else reads is then taken as a
  // constant of the session.
  std::vector<size_t> wants_known = {};
  // The input of row numbers that a kernel takes at run time where input 0 is of floats; -1: none.
  int row_numbers = -1;
  // Words name:kind; i int, f float, s string, t tensor, g graph, I F S lists of them. A node with
  // another attribute, or one of another kind, is refused. s=one|two: a string of those words;
  // s=|one: or an empty one.
  std::string_view attributes = "";
  int min_outputs = 1, max_outputs = 1;
  // True where `host` moves whole elements only, so that it works for f16 and bf16 as it
  // stands. Otherwise inputs of these are widened to f32 and the outputs narrowed again around it.
  bool moves_elements = false;
  // True where `host` writes every element of an output of f32, so that it need not be zeroed.
  bool fills_floats = false;
  // True where `host` applies the node's activation itself.
  bool activates = false;
  // False where the result follows from input types alone (Shape).
  bool needs_values = true;
  // An input of which only the type counts (CastLike); -1: none.
  int type_only = -1;
  // True where `lower` copes with inputs that have no elements, and are not constant.
  bool lowers_empty = false;

  // Types of the outputs. kUnavailable where they depend on values that are not known yet. Inputs
  // have been checked against `inputs`, `types` and `attributes`.
  Result<std::vector<TensorType>> (*infer)(const OpCall& call) = nullptr;
  // Fills the outputs, allocated as inferred and zeroed (but see fills_floats); may replace them by
  // others of the same type (shared storage).
  Status (*host)(const OpCall& call, std::vector<Tensor>& outputs) = nullptr;
  // Of control flow: all outputs at once, of types that nobody knows before. `host` is then
  // nullptr, and `infer` may answer kUnavailable always.
  Result<std::vector<Tensor>> (*run)(const OpCall& call) = nullptr;
  // nullptr: host only. `preferred` is the view that the first input on the device has already.
  Lowering (*lower)(const OpCall& call, View preferred) = nullptr;
  // The outputs as steps of other operators, for nodes that have no kernel of their own: those on
  // f32 become these steps in the graph of a device (expand_composites()). No steps and no refusal:
  // the node stays as it is. nullptr: always.
  std::vector<Term> (*expand)(Steps& steps) = nullptr;
  // The values of a constant that lower() listed, in the contract's logical order.
  Values (*constant)(const OpCall& call, const LoweredConstant& which) = nullptr;
};

// Every op, sorted by file name. Generated from runtime/ops/.
const std::vector<const OpDef*>& op_defs();
// nullptr where the op is unknown; "ai.onnx" is the domain "".
const OpDef* find_op(std::string_view domain, std::string_view name);

// The definition of an operator of a file in that version of its operator set; kUnsupported says
// what clvet has and, where another version would do, which to export. A file has none of
// kStepsDomain, whose operators rely on what the passes saw.
Result<const OpDef*> definition_of(std::string_view domain, std::string_view name, int opset);

// The oldest version of the operator set in which that name of `def` is implemented.
int since_of(const OpDef& def, std::string_view name);

// Whether the op wants that input known before planning.
bool wants_known(const OpDef& def, size_t input);

// Number of inputs, kinds of attributes and outputs of a node, without any types.
Status check_node(const OpDef& def, const Node& node);
// Types of the inputs as `inputs` and `types` want them.
Status check_types(const OpDef& def, const OpCall& call);

// check_types, infer and a check of what infer said.
Result<std::vector<TensorType>> infer_node(const OpCall& call);
// The node on the host, its activation included. `inputs` as in the node, nullptr for absent ones.
Result<std::vector<Tensor>> run_node(const Node& node, std::span<const Tensor* const> inputs);
// The node on the device; kHost with a reason where it cannot be.
Lowering lower_node(const OpCall& call, View preferred);
// Whether it is more than the host's under either view.
bool has_kernel(const OpCall& call);

}  // namespace clvet
