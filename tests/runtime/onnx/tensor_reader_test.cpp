#include "runtime/onnx/tensor_reader.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "tests/support.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;

onnx::TensorProto proto_of(int type, const std::vector<int64_t>& dims) {
  onnx::TensorProto proto;
  proto.set_data_type(type);
  for (const int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

std::string fault_of(const onnx::TensorProto& proto) {
  const auto tensor = tensor_of(proto);
  return tensor ? "accepted" : tensor.error().message;
}

enum class Field { kFloat, kInt32, kInt64, kDouble, kUint64 };

void put(onnx::TensorProto& proto, Field field, double value) {
  switch (field) {
    case Field::kFloat:
      return proto.add_float_data(static_cast<float>(value));
    case Field::kInt32:
      return proto.add_int32_data(static_cast<int32_t>(value));
    case Field::kInt64:
      return proto.add_int64_data(static_cast<int64_t>(value));
    case Field::kDouble:
      return proto.add_double_data(value);
    case Field::kUint64:
      return proto.add_uint64_data(static_cast<uint64_t>(value));
  }
}

// Where onnx.proto keeps each type: the narrow ones and bool in int32_data, f16 and bf16 there by
// their bits.
TEST(TensorReader, ReadsEachTypeFromTheFieldThatTheFormatGivesIt) {
  struct Row {
    int type;
    DType dtype;
    Field field;
    std::vector<double> stored, want;
  };
  const Row rows[] = {
      {1, DType::kF32, Field::kFloat, {1.5, -2}, {1.5, -2}},
      {2, DType::kU8, Field::kInt32, {255, 7}, {255, 7}},
      {3, DType::kI8, Field::kInt32, {-128, 7}, {-128, 7}},
      {4, DType::kU16, Field::kInt32, {65535, 1}, {65535, 1}},
      {5, DType::kI16, Field::kInt32, {-32768, 1}, {-32768, 1}},
      {6, DType::kI32, Field::kInt32, {INT32_MIN, INT32_MAX}, {INT32_MIN, INT32_MAX}},
      {7, DType::kI64, Field::kInt64, {-4503599627370496.0, 3}, {-4503599627370496.0, 3}},
      {9, DType::kBool, Field::kInt32, {0, 1}, {0, 1}},
      {10, DType::kF16, Field::kInt32, {0x3c00, 0xc000}, {1, -2}},
      {16, DType::kBF16, Field::kInt32, {0x3f80, 0xc000}, {1, -2}},
      {11, DType::kF64, Field::kDouble, {1e300, -0.1}, {1e300, -0.1}},
      {12, DType::kU32, Field::kUint64, {4294967295.0, 1}, {4294967295.0, 1}},
      {13, DType::kU64, Field::kUint64, {9223372036854775808.0, 1}, {9223372036854775808.0, 1}},
  };
  for (const Row& row : rows) {
    onnx::TensorProto proto = proto_of(row.type, {2});
    for (const double value : row.stored) put(proto, row.field, value);
    const auto tensor = tensor_of(proto);
    ASSERT_TRUE(tensor) << row.type << tensor.error().message;
    EXPECT_EQ(tensor->dtype(), row.dtype);
    EXPECT_THAT(tensor->to_f64(), ElementsAreArray(row.want)) << to_string(row.dtype);
  }
}

template <class T>
std::vector<double> read_raw_values(int type, const std::vector<T>& values) {
  onnx::TensorProto proto = proto_of(type, {static_cast<int64_t>(values.size())});
  std::string raw(values.size() * sizeof(T), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  proto.set_raw_data(raw);
  const auto tensor = tensor_of(proto);
  EXPECT_TRUE(tensor) << tensor.error().message;
  return tensor ? tensor->to_f64() : std::vector<double>{};
}

TEST(TensorReader, ReadsRawBytesAsLittleEndianValues) {
  EXPECT_THAT(read_raw_values<float>(1, {0.5f, -3}), ElementsAre(0.5, -3));
  EXPECT_THAT(read_raw_values<uint8_t>(2, {0, 200}), ElementsAre(0, 200));
  EXPECT_THAT(read_raw_values<int8_t>(3, {-1, 100}), ElementsAre(-1, 100));
  EXPECT_THAT(read_raw_values<uint16_t>(4, {0x1234}), ElementsAre(0x1234));
  EXPECT_THAT(read_raw_values<int16_t>(5, {-2}), ElementsAre(-2));
  EXPECT_THAT(read_raw_values<int32_t>(6, {0x01020304}), ElementsAre(0x01020304));
  EXPECT_THAT(read_raw_values<int64_t>(7, {-5, int64_t{1} << 40}), ElementsAre(-5, 1LL << 40));
  EXPECT_THAT(read_raw_values<double>(11, {0.1}), ElementsAre(0.1));
  EXPECT_THAT(read_raw_values<uint32_t>(12, {3000000000u}), ElementsAre(3e9));
  EXPECT_THAT(read_raw_values<uint64_t>(13, {7}), ElementsAre(7));
  EXPECT_THAT(read_raw_values<uint16_t>(16, {0x4049, 0xff80}), ElementsAre(3.140625, -INFINITY));
}

TEST(TensorReader, TakesEveryByteButZeroForTrue) {
  EXPECT_THAT(read_raw_values<uint8_t>(9, {0, 1, 2, 0x80, 0xff}), ElementsAre(0, 1, 1, 1, 1));
}

TEST(TensorReader, TakesScalarsAndTensorsWithoutElements) {
  onnx::TensorProto scalar = proto_of(1, {});
  scalar.add_float_data(4);
  EXPECT_EQ(to_string(tensor_of(scalar)->type()), "f32[]");
  for (const bool raw : {false, true}) {
    onnx::TensorProto empty = proto_of(7, {3, 0, 2});
    if (raw) empty.set_raw_data("");
    const auto tensor = tensor_of(empty);
    ASSERT_TRUE(tensor) << tensor.error().message;
    EXPECT_EQ(to_string(tensor->type()), "i64[3,0,2]");
  }
}

TEST(TensorReader, RefusesSizesThatLie) {
  struct Row {
    const char* part;
    std::vector<int64_t> dims;
    size_t values, raw;
  };
  for (const Row& row : {
           Row{"its dims say 4 values, but its data has 3", {2, 2}, 3, 0},
           Row{"its dims say 4 values, but its data has 5", {4}, 5, 0},
           Row{"its dims say 1 values, but its data has 0", {}, 0, 0},
           Row{"its dims say 0 values, but its data has 1", {0}, 1, 0},
           Row{"its dims [2] say 8 bytes, but its raw data has 7", {2}, 0, 7},
           Row{"its dims [0] say 0 bytes, but its raw data has 4", {0}, 0, 4},
           Row{"its dims [] say 4 bytes, but its raw data has 8", {}, 0, 8},
           Row{"too many elements", {INT64_MAX, 3}, 1, 0},
           Row{"too many elements", {int64_t{1} << 32, int64_t{1} << 32}, 0, 4},
           Row{"too many elements", {0, INT64_MAX, INT64_MAX}, 0, 0},
           Row{"negative", {2, -1}, 1, 0},
           Row{"negative", {INT64_MIN}, 1, 0},
           Row{"its data has 1", {int64_t{1} << 40}, 1, 0},
       }) {
    onnx::TensorProto proto = proto_of(1, row.dims);
    for (size_t i = 0; i < row.values; ++i) proto.add_float_data(1);
    if (row.raw) proto.set_raw_data(std::string(row.raw, 'r'));
    EXPECT_THAT(fault_of(proto), HasSubstr(row.part));
  }
}

TEST(TensorReader, CountsOnlyTheFieldOfTheTensorsOwnType) {
  onnx::TensorProto proto = proto_of(7, {1});
  proto.add_float_data(1);
  proto.add_int32_data(1);
  EXPECT_THAT(fault_of(proto), HasSubstr("its data has 0"));
}

TEST(TensorReader, RefusesTypesThatItDoesNotKnowByNumber) {
  for (const int type : {0, 8, 14, 15, 17, 18, 22, -1, 1000}) {
    const auto tensor = tensor_of(proto_of(type, {1}));
    ASSERT_FALSE(tensor) << type;
    EXPECT_EQ(tensor.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(tensor.error().message, HasSubstr("element type " + std::to_string(type)));
  }
}

TEST(TensorReader, RefusesDataInAnotherFileEvenBesideData) {
  onnx::TensorProto proto = proto_of(1, {1});
  proto.add_float_data(1);
  proto.set_data_location(1);
  EXPECT_THAT(fault_of(proto), HasSubstr("another file; save the model with the data inside"));
}

class TensorFile : public ::testing::Test {
 protected:
  Result<Tensor> read(const std::string& bytes) {
    test::put(path_, bytes);
    return read_onnx_tensor(path_);
  }
  const test::TempDir dir_;
  const std::string path_ = dir_ / "t.pb";
};

TEST_F(TensorFile, HoldsOneTensor) {
  onnx::TensorProto proto = proto_of(6, {2, 1});
  proto.add_int32_data(3);
  proto.add_int32_data(4);
  const auto tensor = read(proto.SerializeAsString());
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(to_string(tensor->type()), "i32[2,1]");
  EXPECT_THAT(tensor->to_i64(), ElementsAre(3, 4));
}

TEST_F(TensorFile, IsRefusedInOneLineThatNamesItWhereItIsCutShort) {
  onnx::TensorProto proto = proto_of(1, {2});
  proto.set_raw_data("12345678");
  const std::string whole = proto.SerializeAsString();
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto tensor = read(whole.substr(0, length));
    ASSERT_FALSE(tensor) << length;
    EXPECT_THAT(tensor.error().message, AllOf(HasSubstr(path_), Not(HasSubstr("\n"))));
  }
  EXPECT_EQ(read_onnx_tensor(dir_ / "absent").error().code, ErrorCode::kNotFound);
}

// Field numbers and wire types of protobuf: a length that goes beyond the file, a varint without an
// end, a group that never closes.
TEST_F(TensorFile, IsRefusedWhereItsBytesAreNoProtobuf) {
  for (const std::string& bytes :
       {std::string("\x4a\x7f"
                    "ab",
                    4),
        std::string(12, '\xff'), std::string("\x0b", 1), std::string("\x4a\xff\xff\xff\xff\x0f", 6),
        std::string("\x08", 1)}) {
    const auto tensor = read(bytes);
    ASSERT_FALSE(tensor);
    EXPECT_THAT(tensor.error().message, HasSubstr("not an ONNX tensor"));
  }
}

}  // namespace
}  // namespace clvet
