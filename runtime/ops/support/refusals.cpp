#include "runtime/ops/support/refusals.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"

namespace clvet {

tl::unexpected<Error> misfit(const OpCall& call, size_t i, size_t j) {
  return fail(ErrorCode::kInvalidArgument,
              "{}'s input {} of the shape {} and its input {} of the shape {} do not fit together",
              call.node.op, i, to_string(call.shape(i)), j, to_string(call.shape(j)));
}

tl::unexpected<Error> bad_shape(const OpCall& call, size_t i) {
  return fail(ErrorCode::kInvalidArgument, "{}'s input {} cannot have the shape {}", call.node.op,
              i, to_string(call.shape(i)));
}

tl::unexpected<Error> bad_value(const OpCall& call, size_t i, double value) {
  return fail(ErrorCode::kInvalidArgument, "{}'s input {} cannot be {}", call.node.op, i, value);
}

tl::unexpected<Error> bad_attribute(const OpCall& call, std::string_view name, int64_t value) {
  return fail(ErrorCode::kInvalidArgument, "{}'s attribute {} cannot be {} here", call.node.op,
              name, value);
}

tl::unexpected<Error> bad_attribute(const OpCall& call, std::string_view name) {
  return fail(ErrorCode::kInvalidArgument, "{}'s attribute {} does not fit its inputs",
              call.node.op, name);
}

tl::unexpected<Error> missing_attribute(const OpCall& call, std::string_view name) {
  return fail(ErrorCode::kInvalidArgument, "{} needs the attribute {}, which is missing",
              call.node.op, name);
}

tl::unexpected<Error> missing_input(const OpCall& call, size_t i) {
  return fail(ErrorCode::kInvalidArgument, "{} needs its input {}, which is missing", call.node.op,
              i);
}

tl::unexpected<Error> wrong_count(const OpCall& call) {
  return fail(ErrorCode::kInvalidArgument, "{} cannot have {} inputs", call.node.op,
              call.inputs.size());
}

tl::unexpected<Error> unsupported_input(const OpCall& call, size_t i) {
  return fail(ErrorCode::kUnsupported, "{} with its input {} is not supported", call.node.op, i);
}

tl::unexpected<Error> unsupported_output(const OpCall& call, size_t i) {
  return fail(ErrorCode::kUnsupported, "{} with its output {} is not supported", call.node.op, i);
}

tl::unexpected<Error> index_outside(const OpCall& call) {
  return fail(ErrorCode::kInvalidArgument, "{} has an index that is out of range", call.node.op);
}

tl::unexpected<Error> bad_type(const OpCall& call, size_t i) {
  return fail(ErrorCode::kUnsupported, "{} does not support the type {} for its input {}",
              call.node.op, to_string(call.type(i).dtype), i);
}

Result<int64_t> single_integer(const OpCall& call, size_t i) {
  if (elements_of(call.shape(i)) != 1) return bad_shape(call, i);
  CLVET_ASSIGN_OR_RETURN(const auto values, call.integers(i));
  return values[0];
}

Result<double> single_number(const OpCall& call, size_t i) {
  if (elements_of(call.shape(i)) != 1) return bad_shape(call, i);
  if (!call.inputs[i].value) {
    return fail(ErrorCode::kUnavailable, "the value of input {} is not known yet", i);
  }
  return call.inputs[i].value->to_f64()[0];
}

Result<int64_t> axis_attribute(const OpCall& call, std::string_view name, int64_t fallback) {
  return normal_axis(call.node.int_attr(name, fallback),
                     static_cast<int64_t>(call.shape(0).size()));
}

Result<DType> type_attribute(const OpCall& call, std::string_view name, DType fallback) {
  const int64_t code = call.node.int_attr(name, 0);
  if (code == 0) return fallback;
  const std::optional<DType> dtype = dtype_of_onnx(code);
  if (dtype) return *dtype;
  return fail(ErrorCode::kUnsupported, "{}'s attribute {} is {}, a type that clvet lacks",
              call.node.op, name, code);
}

}  // namespace clvet
