#include "runtime/graph/tensor.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bfloat.h"
#include "base/half.h"
#include "base/memory.h"
#include "base/result.h"
#include "runtime/graph/storage.h"

namespace clvet {
namespace {

// Below it, whether there is room is left to the system.
constexpr size_t kSmallBytes = size_t{256} << 20;

bool has_room(size_t bytes) {
  const uint64_t available = bytes > kSmallBytes ? memory_available() : 0;
  return available == 0 || bytes < available;
}

// A whole number that To cannot hold keeps its low bits, as in onnxruntime and numpy on x86: -1 is
// 255 as u8. That goes for what an int32 holds, for types of 64 bits an int64, and for all numbers
// of an unsigned To. The others, infinities and NaN become the least int32 or int64, 0 in all other
// types.
template <class To>
To wrapped(double value) {
  using Wide = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
  constexpr auto kLow = static_cast<double>(std::numeric_limits<Wide>::min());
  const double whole = std::trunc(value);
  if (whole >= kLow && whole < -kLow) return static_cast<To>(static_cast<Wide>(whole));
  if constexpr (std::is_unsigned_v<To> && sizeof(To) == sizeof(Wide)) {
    if (whole >= 0 && whole < -2 * kLow) return static_cast<To>(whole);
  }
  return std::is_same_v<To, Wide> ? std::numeric_limits<To>::min() : To{0};
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(half_to_float(value.bits));
  } else if constexpr (std::is_same_v<From, Bfloat>) {
    return convert<To>(bfloat_to_float(value.bits));
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{double_to_half(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, Bfloat>) {
    return Bfloat{double_to_bfloat(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return wrapped<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class To>
void convert_all(const Tensor& from, To* out) {
  visit(from.dtype(), [&]<class From>() {
    const From* in = from.data<From>();
    for (int64_t i = 0; i < from.elements(); ++i) {
      if constexpr (std::is_same_v<To, From>) {
        out[i] = in[i];
      } else {
        out[i] = convert<To>(in[i]);
      }
    }
  });
}

Result<Tensor> create_in(std::shared_ptr<std::byte> (*storage_of)(size_t), DType dtype,
                         Shape shape) {
  CLVET_ASSIGN_OR_RETURN(const int64_t elements, checked_elements(shape));
  const size_t bytes = static_cast<size_t>(elements) * size_of(dtype);
  std::shared_ptr<std::byte> storage = has_room(bytes) ? storage_of(bytes + 64) : nullptr;
  if (!storage) {
    return fail(ErrorCode::kResourceExhausted,
                "there is not enough memory for a tensor {}{} of {} bytes", to_string(dtype),
                to_string(shape), bytes);
  }
  return Tensor::wrap(dtype, std::move(shape), std::move(storage));
}

}  // namespace

size_t size_of(DType dtype) {
  return visit(dtype, []<class T>() { return sizeof(T); });
}

const char* to_string(DType dtype) {
  static constexpr const char* kNames[kDTypeCount] = {
      "f32", "f64", "f16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "bf16"};
  return kNames[static_cast<int>(dtype)];
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ',';
    text += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

std::string to_string(const TensorType& type) {
  return to_string(type.dtype) + to_string(type.shape);
}

Result<int64_t> checked_elements(const Shape& shape) {
  int64_t product = 1;
  bool overflow = false;
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) {
      return fail(ErrorCode::kInvalidArgument, "a shape has the negative extent {}", dim);
    }
    if (dim == 0)
      empty = true;
    else
      overflow |= __builtin_mul_overflow(product, dim, &product);
  }
  // An empty shape, too: loops multiply the extents beside an axis.
  if (overflow || (!empty && product > (int64_t{1} << 40))) {
    return fail(ErrorCode::kInvalidArgument, "shape {} has too many elements", to_string(shape));
  }
  return empty ? 0 : product;
}

int64_t elements_of(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

Result<Tensor> Tensor::create(DType dtype, Shape shape) {
  return create_in(zeroed_storage, dtype, std::move(shape));
}

Result<Tensor> Tensor::create_unset(DType dtype, Shape shape) {
  return create_in(unset_storage, dtype, std::move(shape));
}

Tensor Tensor::wrap(DType dtype, Shape shape, std::shared_ptr<std::byte> storage) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.elements_ = elements_of(tensor.shape_);
  tensor.data_ = std::move(storage);
  return tensor;
}

Tensor Tensor::reshaped(Shape shape) const { return wrap(dtype_, std::move(shape), data_); }

Result<Tensor> Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  CLVET_ASSIGN_OR_RETURN(Tensor out, create(dtype, shape_));
  visit(dtype, [&]<class To>() { convert_all(*this, out.data<To>()); });
  return out;
}

std::vector<int64_t> Tensor::to_i64() const {
  std::vector<int64_t> out(static_cast<size_t>(elements_));
  convert_all(*this, out.data());
  return out;
}

std::vector<double> Tensor::to_f64() const {
  std::vector<double> out(static_cast<size_t>(elements_));
  convert_all(*this, out.data());
  return out;
}

bool bitwise_equal(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

}  // namespace clvet
