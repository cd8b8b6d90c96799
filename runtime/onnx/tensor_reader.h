// TensorProto to Tensor, sizes checked before anything is allocated.
#pragma once

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/external_data.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet {

// kInvalidArgument or kUnsupported without the tensor's name; the caller adds it.
Result<Tensor> tensor_of(const onnx::TensorProto& proto, ExternalData& files);
// Of one that must hold its data itself.
Result<Tensor> tensor_of(const onnx::TensorProto& proto);

}  // namespace clvet
