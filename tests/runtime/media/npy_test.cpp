#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/media/npy.h"
#include "tests/runtime/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using ::testing::HasSubstr;

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes("\x93NUMPY");
  bytes += {static_cast<char>(version), 0};
  const size_t length = header.size() + 1;
  bytes += {static_cast<char>(length & 255), static_cast<char>(length >> 8)};
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + "\n" + data;
}

const std::string kFloats("\0\0\x80?\0\0\0@", 8);  // 1, 2
const std::string kHeader = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";

TEST(Npy, WritesWhatItReads) {
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{1, 2, 0, 4}}) {
    const Tensor tensor = test::noise(shape);
    const auto back = parse_npy(format_npy(tensor), "t.npy");
    ASSERT_TRUE(back) << back.error().message;
    test::expect_near(*back, tensor, 0);
  }
  EXPECT_EQ(format_npy(test::noise({2, 3})).find('\n') % 64, 63u);
}

TEST(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const auto tensor = parse_npy(npy(kHeader, kFloats, version), "t.npy");
    ASSERT_TRUE(tensor) << tensor.error().message;
    EXPECT_EQ(test::floats(*tensor), (std::vector<float>{1, 2}));
  }
}

TEST(Npy, ReadsEveryTypeItWrites) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const Tensor tensor = Tensor::of<int32_t>({3}, {0, 1, 1}).cast(static_cast<DType>(i)).value();
    const auto back = parse_npy(format_npy(tensor), "t.npy");
    ASSERT_TRUE(back) << back.error().message;
    const TensorType kept{tensor.dtype() == DType::kBF16 ? DType::kF32 : tensor.dtype(), {3}};
    EXPECT_EQ(to_string(back->type()), to_string(kept));
    EXPECT_EQ(back->to_i64(), tensor.to_i64());
  }
}

// NumPy has no bfloat16; float32 holds each of its values.
TEST(Npy, HasTheNumbersOfBfloat16AsFloat32) {
  const Tensor tensor = Tensor::of<Bfloat>({2, 2}, {{0x3f80}, {0xc049}, {0x0001}, {0x7f80}});
  const Tensor back = parse_npy(format_npy(tensor), "t.npy").value();
  EXPECT_EQ(to_string(back.type()), "f32[2,2]");
  EXPECT_EQ(test::floats(back), (std::vector<float>{1, -3.140625f, 0x1p-133f, INFINITY}));
}

TEST(Npy, RefusesFaultsWithAReason) {
  const struct {
    std::string bytes;
    const char* part;
  } faults[] = {
      {"", "not a .npy file"},
      {"PK\x03\x04zip archive", "not a .npy file"},
      {npy(kHeader, kFloats, 9), "version 9"},
      {npy(kHeader, kFloats).substr(0, 30), "the file is incomplete"},
      {npy(kHeader, kFloats.substr(0, 5)), "says 8 bytes of data, but the file has 5"},
      {npy(kHeader, kFloats + kFloats), "the file has 16"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", kFloats), "Fortran"},
      {npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", kFloats), "'>f4'"},
      {npy("{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }", kFloats), "'<U3'"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", kFloats), "plain"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", kFloats), "is not valid"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", kFloats), "is not valid"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}", kFloats),
       "too many"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999)}", kFloats),
       "the file has 8"},
      {npy("{'descr': '<f4', 'shape': (2,)}", kFloats), "fortran_order"},
      {npy("{}", kFloats), "descr"},
  };
  for (const auto& fault : faults) {
    const auto tensor = parse_npy(fault.bytes, "t.npy");
    ASSERT_FALSE(tensor) << fault.part;
    EXPECT_THAT(tensor.error().message, HasSubstr(fault.part));
    EXPECT_THAT(tensor.error().message, HasSubstr("t.npy"));
  }
}

TEST(Npy, SurvivesEveryTruncation) {
  const std::string whole = npy(kHeader, kFloats);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_npy(whole.substr(0, length), "t.npy"));
  }
}

TEST(Npy, GoesThroughAFile) {
  const test::TempDir dir;
  const std::string path = dir / "t.npy";
  const Tensor tensor = test::noise({2, 5});
  ASSERT_TRUE(write_npy(path, tensor));
  test::expect_near(read_npy(path).value(), tensor, 0);
}

TEST(Npy, RawFilesMustHaveExactlyTheTypesBytes) {
  const test::TempDir dir;
  const std::string path = dir / "t.bin";
  std::ofstream(path, std::ios::binary) << kFloats;
  EXPECT_EQ(test::floats(read_raw(path, {DType::kF32, {2}}).value()), (std::vector<float>{1, 2}));
  const auto wrong = read_raw(path, {DType::kF32, {3}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("8 bytes, but a raw f32[3] has 12"));
}

TEST(Npy, ReadsHeadersAsOtherProgramsWriteThem) {
  const char* const headers[] = {
      "{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
      "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2,), }",
      "{'descr':'<f4','fortran_order':False,'shape':(2,)}",
      "{'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , )}        ",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1)}",
  };
  for (const char* header : headers) {
    const auto tensor = parse_npy(npy(header, kFloats), "t.npy");
    ASSERT_TRUE(tensor) << header << tensor.error().message;
    EXPECT_EQ(test::floats(*tensor), (std::vector<float>{1, 2})) << header;
  }
}

TEST(Npy, ReadsAScalarAndArraysWithoutElements) {
  const auto shape_of = [](const std::string& shape, const std::string& data) {
    const auto tensor = parse_npy(
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", data), "t.npy");
    return tensor ? to_string(tensor->shape()) : tensor.error().message;
  };
  EXPECT_EQ(shape_of("()", kFloats.substr(0, 4)), "[]");
  EXPECT_EQ(shape_of("(0,)", ""), "[0]");
  EXPECT_EQ(shape_of("(3, 0)", ""), "[3,0]");
  EXPECT_THAT(shape_of("(0, 9223372036854775807, 9223372036854775807)", ""), HasSubstr("too many"));
  EXPECT_THAT(shape_of("(9223372036854775808,)", ""), HasSubstr("is not valid"));
}

TEST(Npy, SaysEachFaultInOneLineWhateverTheHeaderHolds) {
  for (const std::string descr : {"<\n4", "a\tb\x01\xff", "", "'"}) {
    const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,)}";
    const auto tensor = parse_npy(npy(header, kFloats), "two\nlines.npy");
    ASSERT_FALSE(tensor);
    EXPECT_THAT(tensor.error().message, ::testing::Not(HasSubstr("\n"))) << descr;
    EXPECT_THAT(tensor.error().message, HasSubstr("lines.npy"));
  }
}

TEST(Npy, SurvivesEveryFlippedByte) {
  const std::string whole = npy(kHeader, kFloats);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x20, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto tensor = parse_npy(damaged, "t.npy");
      EXPECT_LE(tensor ? tensor->bytes() : 0, damaged.size());
    }
  }
}

TEST(Npy, TakesEveryByteButZeroForTrue) {
  const std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}";
  const auto tensor = parse_npy(npy(header, std::string("\0\x02\xff", 3)), "t.npy");
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->to_i64(), test::list({0, 1, 1}));
}

TEST(Npy, NamesAFileThatIsAbsentOrCannotBeWritten) {
  const test::TempDir dir;
  EXPECT_THAT(read_npy(dir / "absent.npy").error().message, HasSubstr("absent.npy"));
  EXPECT_FALSE(write_npy(dir / "no/folder/t.npy", test::noise({1})));
  EXPECT_THAT(read_raw(dir / "absent.bin", {DType::kF32, {1}}).error().message,
              HasSubstr("absent.bin"));
  EXPECT_FALSE(read_raw(dir / "absent.bin", {DType::kF32, {-1}}));
}

}  // namespace
}  // namespace clvet
