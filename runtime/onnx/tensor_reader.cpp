#include "runtime/onnx/tensor_reader.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/external_data.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

Status check_count(int64_t elements, int64_t stored) {
  if (elements == stored) return {};
  return fail(ErrorCode::kInvalidArgument, "its dims say {} values, but its data has {}", elements,
              stored);
}

template <class T, class Field>
Result<Tensor> from_field(DType dtype, const Shape& shape, int64_t elements, const Field& field) {
  CLVET_RETURN_IF_ERROR(check_count(elements, field.size()));
  CLVET_ASSIGN_OR_RETURN(Tensor tensor, Tensor::create(dtype, shape));
  T* out = tensor.data<T>();
  for (int i = 0; i < field.size(); ++i) {
    if constexpr (kIsShortFloat<T>)
      out[i].bits = static_cast<uint16_t>(field[i]);
    else
      out[i] = static_cast<T>(field[i]);
  }
  return tensor;
}

Result<Tensor> from_raw(DType dtype, const Shape& shape, int64_t elements, const std::string& raw) {
  const auto size = static_cast<int64_t>(size_of(dtype));
  if (static_cast<int64_t>(raw.size()) != elements * size) {
    return fail(ErrorCode::kInvalidArgument, "its dims {} say {} bytes, but its raw data has {}",
                to_string(shape), elements * size, raw.size());
  }
  CLVET_ASSIGN_OR_RETURN(Tensor tensor, Tensor::create(dtype, shape));
  if (dtype == DType::kBool) {
    for (size_t i = 0; i < raw.size(); ++i) tensor.data<bool>()[i] = raw[i] != 0;
  } else if (!raw.empty()) {
    std::memcpy(tensor.raw(), raw.data(), raw.size());
  }
  return tensor;
}

Result<Tensor> from_fields(DType dtype, const Shape& shape, int64_t elements,
                           const onnx::TensorProto& proto) {
  switch (dtype) {
    case DType::kF32:
      return from_field<float>(dtype, shape, elements, proto.float_data());
    case DType::kF64:
      return from_field<double>(dtype, shape, elements, proto.double_data());
    case DType::kI64:
      return from_field<int64_t>(dtype, shape, elements, proto.int64_data());
    case DType::kU32:
      return from_field<uint32_t>(dtype, shape, elements, proto.uint64_data());
    case DType::kU64:
      return from_field<uint64_t>(dtype, shape, elements, proto.uint64_data());
    default:
      return visit(dtype, [&]<class T>() {
        return from_field<T>(dtype, shape, elements, proto.int32_data());
      });
  }
}

}  // namespace

Result<Tensor> tensor_of(const onnx::TensorProto& proto, ExternalData& files) {
  const auto dtype = dtype_of_onnx(proto.data_type());
  if (!dtype) {
    return fail(ErrorCode::kUnsupported, "the ONNX element type {} is not supported",
                proto.data_type());
  }
  const Shape shape(proto.dims().begin(), proto.dims().end());
  CLVET_ASSIGN_OR_RETURN(const int64_t elements, checked_elements(shape));
  if (proto.data_location() == 1) {
    CLVET_ASSIGN_OR_RETURN(Tensor tensor, Tensor::create(*dtype, shape));
    CLVET_RETURN_IF_ERROR(files.read(proto, tensor));
    return tensor;
  }
  if (proto.has_raw_data()) return from_raw(*dtype, shape, elements, proto.raw_data());
  return from_fields(*dtype, shape, elements, proto);
}

Result<Tensor> tensor_of(const onnx::TensorProto& proto) {
  ExternalData none;
  return tensor_of(proto, none);
}

}  // namespace clvet
