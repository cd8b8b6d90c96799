// The functions of one operand that no kernel applies beside its own work: operation
// eltwise_function computes them, by their place in this table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace clvet {

struct FunctionRow {
  std::string_view onnx;  // the operator that computes it
  double (*value)(double z);
  double (*slope)(double z);  // |f'(z)|; 0 where f is flat beside its steps
  // What an OpenCL device of the full profile may be wrong by (OpenCL C, "Relative Error as ULPs").
  double ulps;
};

// A row's place is the number under which kernels/common/functions.clh has it.
std::span<const FunctionRow> function_rows();
// nullopt: no row is of that operator.
std::optional<int64_t> function_of_onnx(std::string_view op);

}  // namespace clvet
