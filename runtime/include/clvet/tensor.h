// Types and shapes of tensors, and views of their values in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "clvet/abi.h"
#include "clvet/result.h"

CLVET_ABI_BEGIN

enum class DataType { f32, f64, f16, i8, i16, i32, i64, u8, u16, u32, u64, boolean, bf16 };

// "f32", "i64", "bool", ...
CLVET_API const char* to_string(DataType type);
// Bytes of one value.
CLVET_API size_t size_of(DataType type);

// The bits of a value of DataType::f16, IEEE 754 binary16.
struct Half {
  uint16_t bits = 0;
};
// Those of DataType::bf16, the upper half of a float's.
struct Bfloat {
  uint16_t bits = 0;
};

template <class T>
struct DataTypeOf;
#define CLVET_DATA_TYPE(type, name)                   \
  template <>                                         \
  struct DataTypeOf<type> {                           \
    static constexpr DataType value = DataType::name; \
  }
CLVET_DATA_TYPE(float, f32);
CLVET_DATA_TYPE(double, f64);
CLVET_DATA_TYPE(Half, f16);
CLVET_DATA_TYPE(int8_t, i8);
CLVET_DATA_TYPE(int16_t, i16);
CLVET_DATA_TYPE(int32_t, i32);
CLVET_DATA_TYPE(int64_t, i64);
CLVET_DATA_TYPE(uint8_t, u8);
CLVET_DATA_TYPE(uint16_t, u16);
CLVET_DATA_TYPE(uint32_t, u32);
CLVET_DATA_TYPE(uint64_t, u64);
CLVET_DATA_TYPE(bool, boolean);
CLVET_DATA_TYPE(Bfloat, bf16);
#undef CLVET_DATA_TYPE

using Shape = std::vector<int64_t>;  // elements along each axis, the slowest first

struct TensorInfo {
  std::string name;
  DataType type = DataType::f32;
  Shape shape;  // -1: left open by the model
};

// Values that lie somewhere already, in row-major order.
struct Values {
  DataType type = DataType::f32;
  Shape shape;
  std::shared_ptr<const void> data;  // as many as the shape says; may be null where these are none
};

enum class Access { read, write };

class Slots;

// The values of one tensor of a session, in row-major order, until it is dropped. Those of an
// output, and of an input mapped for reading, stay as they are even if the session goes.
class CLVET_API Mapping {
 public:
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  const TensorInfo& info() const;
  Access access() const;
  int64_t elements() const;

  // All values. invalid_argument: T is not the tensor's type, or it is mapped for reading and T is
  // not const. stale: it was unmapped or moved from.
  template <class T>
  Result<std::span<T>> as() const {
    const auto bytes = view(DataTypeOf<std::remove_const_t<T>>::value, !std::is_const_v<T>);
    if (!bytes) return bytes.error();
    return std::span<T>(reinterpret_cast<T*>(bytes->data()), bytes->size() / sizeof(T));
  }
  // The same where the tensor has this shape; invalid_argument where it has another.
  template <class T>
  Result<std::span<T>> as(const Shape& shape) const {
    if (const Status same = has_shape(shape); !same) return same.error();
    return as<T>();
  }

  // Ends it before it is dropped. stale: it has ended, or its session was dropped or resized.
  Status unmap();

 private:
  friend class Session;
  struct State;
  explicit Mapping(std::unique_ptr<State> state);
  static Result<Mapping> of(const std::shared_ptr<Slots>& slots, const std::string& name,
                            Access access);
  Result<std::span<std::byte>> view(DataType type, bool writes) const;
  Status has_shape(const Shape& shape) const;
  std::unique_ptr<State> state_;
};

CLVET_ABI_END
