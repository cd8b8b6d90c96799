// Why operators refuse a node, in few sentences for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

// Inputs i and j have shapes that contradict each other; kInvalidArgument, as all but bad_type.
tl::unexpected<Error> misfit(const OpCall& call, size_t i, size_t j);
// The operator takes no input i of that shape.
tl::unexpected<Error> bad_shape(const OpCall& call, size_t i);
// The operator takes no input i with that value.
tl::unexpected<Error> bad_value(const OpCall& call, size_t i, double value);
tl::unexpected<Error> bad_attribute(const OpCall& call, std::string_view name, int64_t value);
// A list or text that does not suit the inputs.
tl::unexpected<Error> bad_attribute(const OpCall& call, std::string_view name);
tl::unexpected<Error> missing_attribute(const OpCall& call, std::string_view name);
// An input that the operator needs in this form, or that clvet lacks.
tl::unexpected<Error> missing_input(const OpCall& call, size_t i);
// The operator takes no such number of inputs.
tl::unexpected<Error> wrong_count(const OpCall& call);
tl::unexpected<Error> unsupported_input(const OpCall& call, size_t i);
tl::unexpected<Error> unsupported_output(const OpCall& call, size_t i);
tl::unexpected<Error> index_outside(const OpCall& call);
// kUnsupported: clvet or ONNX has the operator for other types alone.
tl::unexpected<Error> bad_type(const OpCall& call, size_t i);

// Input i has one element: its value; kUnavailable where it is not known yet.
Result<int64_t> single_integer(const OpCall& call, size_t i);
Result<double> single_number(const OpCall& call, size_t i);

// Normalised; a rank of 0 has none.
Result<int64_t> axis_attribute(const OpCall& call, std::string_view name, int64_t fallback);

// The type that an attribute names by ONNX's number, `fallback` where it is absent or 0;
// kUnsupported for a type that clvet lacks.
Result<DType> type_attribute(const OpCall& call, std::string_view name, DType fallback);

}  // namespace clvet
