// A dense host tensor: type, shape and shared storage in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace clvet {

// Numbered as DataType of the public interface: what comes new comes last.
enum class DType { kF32, kF64, kF16, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kBool, kBF16 };
inline constexpr int kDTypeCount = 13;

// The storage type of DType::kF16; convert with base/half.h.
struct Half {
  uint16_t bits = 0;
};
// That of DType::kBF16; convert with base/bfloat.h.
struct Bfloat {
  uint16_t bits = 0;
};
// Floats of 16 bits, which C++ has no arithmetic for.
template <class T>
inline constexpr bool kIsShortFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;
constexpr bool is_short_float(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }
// The distance of neighbours as a part of them, at most, where a device at precision high does not
// round to the type: 0 for all but short floats.
constexpr double step_part(DType dtype) {
  return dtype == DType::kF16 ? 0x1p-10 : dtype == DType::kBF16 ? 0x1p-7 : 0;
}
constexpr bool is_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || is_short_float(dtype);
}

size_t size_of(DType dtype);
const char* to_string(DType dtype);  // "f32", "i64", "bool", ...

template <class T>
struct DTypeOf;
#define CLVET_DTYPE(type, value)                  \
  template <>                                     \
  struct DTypeOf<type> {                          \
    static constexpr DType kValue = DType::value; \
  }
CLVET_DTYPE(float, kF32);
CLVET_DTYPE(double, kF64);
CLVET_DTYPE(Half, kF16);
CLVET_DTYPE(Bfloat, kBF16);
CLVET_DTYPE(int8_t, kI8);
CLVET_DTYPE(int16_t, kI16);
CLVET_DTYPE(int32_t, kI32);
CLVET_DTYPE(int64_t, kI64);
CLVET_DTYPE(uint8_t, kU8);
CLVET_DTYPE(uint16_t, kU16);
CLVET_DTYPE(uint32_t, kU32);
CLVET_DTYPE(uint64_t, kU64);
CLVET_DTYPE(bool, kBool);
#undef CLVET_DTYPE

// Calls fn.template operator()<T>() with the C++ type of `dtype`.
template <class Fn>
decltype(auto) visit(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kF32:
      return fn.template operator()<float>();
    case DType::kF64:
      return fn.template operator()<double>();
    case DType::kF16:
      return fn.template operator()<Half>();
    case DType::kBF16:
      return fn.template operator()<Bfloat>();
    case DType::kI8:
      return fn.template operator()<int8_t>();
    case DType::kI16:
      return fn.template operator()<int16_t>();
    case DType::kI32:
      return fn.template operator()<int32_t>();
    case DType::kI64:
      return fn.template operator()<int64_t>();
    case DType::kU8:
      return fn.template operator()<uint8_t>();
    case DType::kU16:
      return fn.template operator()<uint16_t>();
    case DType::kU32:
      return fn.template operator()<uint32_t>();
    case DType::kU64:
      return fn.template operator()<uint64_t>();
    case DType::kBool:
      break;
  }
  return fn.template operator()<bool>();
}

using Shape = std::vector<int64_t>;
std::string to_string(const Shape& shape);  // "[1,3,48,192]"
// The product of the dims; kInvalidArgument where one is negative or the product (of those that are
// not 0) overflows.
Result<int64_t> checked_elements(const Shape& shape);
// The same for a shape already known to be sound.
int64_t elements_of(std::span<const int64_t> dims);

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};
std::string to_string(const TensorType& type);  // "f32[1,3,48,192]"

// Copying shares the storage. A tensor is written only by whoever created it, before sharing it.
class Tensor {
 public:
  Tensor() : shape_{0} {}

  // Zero-filled. kInvalidArgument: a bad shape; kResourceExhausted: it needs more memory than the
  // machine can give now. A system that promises any size would end the process later.
  static Result<Tensor> create(DType dtype, Shape shape);
  // The same, but with anything in it, for who writes every element.
  static Result<Tensor> create_unset(DType dtype, Shape shape);
  // Over storage that somebody else made: at least as many bytes as dtype and shape need.
  static Tensor wrap(DType dtype, Shape shape, std::shared_ptr<std::byte> storage);
  // From values; their number must be the shape's (missing ones read as zero).
  template <class T>
  static Tensor of(Shape shape, std::initializer_list<T> values) {
    return from(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor from(Shape shape, std::span<const T> values) {
    Tensor tensor = create(DTypeOf<T>::kValue, std::move(shape)).value();
    const size_t count = std::min(values.size(), static_cast<size_t>(tensor.elements()));
    if (count) std::memcpy(tensor.raw(), values.data(), count * sizeof(T));
    return tensor;
  }
  template <class T>
  static Tensor scalar(T value) {
    return from(Shape{}, std::span<const T>(&value, 1));
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  TensorType type() const { return {dtype_, shape_}; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t dim(int64_t axis) const { return shape_[static_cast<size_t>(axis)]; }
  int64_t elements() const { return elements_; }
  size_t bytes() const { return static_cast<size_t>(elements_) * size_of(dtype_); }

  // Nobody else has its storage.
  // Tensors that share the storage, this one included.
  long holders() const { return data_.use_count(); }
  bool sole() const { return holders() == 1; }
  const std::byte* raw() const { return data_.get(); }
  std::byte* raw() { return data_.get(); }
  // T must be the type of dtype(); checked_cast-free access for inner loops.
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(data_.get());
  }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(data_.get());
  }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(elements_)};
  }

  // The same storage under another shape of as many elements.
  Tensor reshaped(Shape shape) const;
  // Converted value by value as ONNX Cast does. Of a float, an integer gets the whole part; of what
  // it cannot hold, see docs/run.md.
  Result<Tensor> cast(DType dtype) const;
  // Values of any numeric type as int64 or double; kInternal for a type that cannot hold them.
  std::vector<int64_t> to_i64() const;
  std::vector<double> to_f64() const;

 private:
  DType dtype_ = DType::kF32;
  Shape shape_;
  int64_t elements_ = 0;
  std::shared_ptr<std::byte> data_;
};

// Of one type and one shape, and bit for bit the same.
bool bitwise_equal(const Tensor& a, const Tensor& b);

}  // namespace clvet
