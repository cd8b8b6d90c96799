#include "runtime/media/npy.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "base/bfloat.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxFile = size_t{1} << 34;

struct TypeName {
  std::string_view descr;
  DType dtype;
};
constexpr TypeName kTypes[] = {
    {"<f4", DType::kF32}, {"<f8", DType::kF64}, {"<f2", DType::kF16}, {"|i1", DType::kI8},
    {"<i2", DType::kI16}, {"<i4", DType::kI32}, {"<i8", DType::kI64}, {"|u1", DType::kU8},
    {"<u2", DType::kU16}, {"<u4", DType::kU32}, {"<u8", DType::kU64}, {"|b1", DType::kBool},
};

template <class... Args>
tl::unexpected<Error> bad(const std::string& name, fmt::format_string<Args...> text,
                          Args&&... args) {
  return fail(ErrorCode::kInvalidArgument, "{}: {}", one_line(name, 300),
              fmt::format(text, std::forward<Args>(args)...));
}

// What follows `'key':` in the header's dictionary; empty where there is none.
std::string_view after_key(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string word = quote + std::string(key) + quote;
    const size_t at = header.find(word);
    if (at == std::string_view::npos) continue;
    std::string_view rest = trim(header.substr(at + word.size()));
    if (!rest.empty() && rest[0] == ':') return trim(rest.substr(1));
  }
  return {};
}

Result<DType> parse_descr(std::string_view text, const std::string& name) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"')) {
    return bad(name, "its header has no simple 'descr'; save a single plain array");
  }
  const std::string_view descr = text.substr(1, text.find(text[0], 1) - 1);
  for (const TypeName& type : kTypes) {
    if (type.descr == descr) return type.dtype;
  }
  return bad(
      name,
      "the element type '{}' is not supported; save the array with .astype('<f4'), for example",
      one_line(descr, 40));
}

Result<Shape> parse_shape(std::string_view text, const std::string& name) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) {
    return bad(name, "its header has no 'shape'; the file is not a .npy file or is damaged");
  }
  Shape shape;
  for (const std::string& part : split(text.substr(1, end - 1), ',')) {
    const std::string_view digits = trim(part);
    if (digits.empty()) continue;
    int64_t dim = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), dim);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || dim < 0) {
      return bad(name, "the shape in its header is not valid; the file is damaged");
    }
    shape.push_back(dim);
  }
  return shape;
}

struct Parts {
  std::string_view header, data;
};

Result<Parts> parts_of(std::string_view bytes, const std::string& name) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 10) {
    return bad(name, "not a .npy file; write it with numpy.save");
  }
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) return bad(name, "the .npy version {} is not supported", version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) return bad(name, "the file is incomplete; write it again");
  size_t length = 0;
  for (size_t i = length_bytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[8 + i]);
  }
  if (length > bytes.size() - 8 - length_bytes)
    return bad(name, "the file is incomplete; write it again");
  return Parts{bytes.substr(8 + length_bytes, length), bytes.substr(8 + length_bytes + length)};
}

Status check_order(std::string_view order, const std::string& name) {
  if (order.substr(0, 4) == "True") {
    return bad(name, "the array is in Fortran order; save numpy.ascontiguousarray(array)");
  }
  if (order.substr(0, 5) != "False") {
    return bad(name, "its header has no 'fortran_order'; the file is damaged");
  }
  return {};
}

}  // namespace

Result<Tensor> parse_npy(std::string_view bytes, const std::string& name) {
  CLVET_ASSIGN_OR_RETURN(const Parts parts, parts_of(bytes, name));
  const auto& [header, data] = parts;
  CLVET_ASSIGN_OR_RETURN(const DType dtype, parse_descr(after_key(header, "descr"), name));
  CLVET_ASSIGN_OR_RETURN(const Shape shape, parse_shape(after_key(header, "shape"), name));
  CLVET_RETURN_IF_ERROR(check_order(after_key(header, "fortran_order"), name));
  const auto elements = checked_elements(shape);
  if (!elements) return bad(name, "{}", elements.error().message);
  const size_t wanted = static_cast<size_t>(*elements) * size_of(dtype);
  if (data.size() != wanted) {
    return bad(name, "its header says {} bytes of data, but the file has {}; write it again",
               wanted, data.size());
  }
  CLVET_ASSIGN_OR_RETURN(Tensor tensor, Tensor::create(dtype, shape));
  if (dtype == DType::kBool) {
    for (size_t i = 0; i < wanted; ++i) tensor.data<bool>()[i] = data[i] != 0;
  } else if (wanted) {
    std::memcpy(tensor.raw(), data.data(), wanted);
  }
  return tensor;
}

Result<Tensor> read_npy(const std::string& path) {
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxFile));
  return parse_npy(bytes, path);
}

std::string format_npy(const Tensor& tensor) {
  const DType dtype = tensor.dtype() == DType::kBF16 ? DType::kF32 : tensor.dtype();
  std::string_view descr;
  for (const TypeName& type : kTypes) {
    if (type.dtype == dtype) descr = type.descr;
  }
  std::string shape;
  for (const int64_t dim : tensor.shape()) shape += std::to_string(dim) + ", ";
  if (tensor.rank() > 1)
    shape.resize(shape.size() - 2);
  else if (tensor.rank() == 1)
    shape.resize(shape.size() - 1);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  if (tensor.dtype() != dtype) {
    for (const Bfloat& value : tensor.values<Bfloat>()) {
      const float wide = bfloat_to_float(value.bits);
      bytes.append(reinterpret_cast<const char*>(&wide), sizeof wide);
    }
  } else if (tensor.bytes()) {
    bytes.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  }
  return bytes;
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  return write_file_atomically(path, format_npy(tensor));
}

Result<Tensor> read_raw(const std::string& path, const TensorType& type) {
  CLVET_ASSIGN_OR_RETURN(Tensor tensor, Tensor::create(type.dtype, type.shape));
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxFile));
  if (bytes.size() != tensor.bytes()) {
    return bad(path, "the file has {} bytes, but a raw {} has {}", bytes.size(), to_string(type),
               tensor.bytes());
  }
  if (type.dtype == DType::kBool) {
    for (size_t i = 0; i < bytes.size(); ++i) tensor.data<bool>()[i] = bytes[i] != 0;
  } else if (!bytes.empty()) {
    std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  }
  return tensor;
}

}  // namespace clvet
