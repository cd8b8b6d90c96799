#include "runtime/gguf/parser.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/metadata.h"

namespace clvet {
namespace {

static_assert(std::endian::native == std::endian::little,
              "GGUF files are little-endian; numbers are read as they lie");

constexpr uint32_t kGgufMagic = 0x46554747;  // "GGUF"
constexpr int kMaxDepth = 8;                 // of arrays in arrays
constexpr size_t kLongestKey = 65535, kLongestTensorName = 1024;
constexpr size_t kMaxAlignment = size_t{1} << 20;
// The least bytes that these take: a key of one byte with a byte, a name of one byte with one dim,
// a string, an array.
constexpr size_t kLeastPair = 8 + 1 + 4 + 1, kLeastTensor = 8 + 1 + 4 + 8 + 4 + 8, kLeastString = 8,
                 kLeastArray = 4 + 8;
constexpr uint32_t kMaxDims = 4;

std::string label(const char* what, std::string_view name) {
  if (name.empty()) return what;
  const std::string shown = one_line(name, 100);
  return std::string_view(what) == "tensor" ? fmt::format("tensor '{}'", shown)
                                            : fmt::format("metadata key '{}'", shown);
}

}  // namespace

GgufParser::GgufParser(std::span<const std::byte> bytes, const std::string& name) {
  file_.name_ = name;
  file_.bytes_ = bytes;
  file_.metadata_ = GgufMetadata(name);
}

tl::unexpected<Error> GgufParser::cut_short(const Where& where) const {
  return fail(ErrorCode::kInvalidArgument,
              "{}: {}: the file ends here, at byte {}; it is incomplete or damaged: fetch it again",
              file_.name_, label(where.what, where.name), file_.bytes_.size());
}

tl::unexpected<Error> GgufParser::fault(const Where& where, const std::string& text) const {
  return fail(ErrorCode::kInvalidArgument, "{}: {}: {}; fetch or convert the model again",
              file_.name_, label(where.what, where.name), text);
}

Result<GgufFile> GgufParser::parse() {
  CLVET_RETURN_IF_ERROR(read_header());
  CLVET_RETURN_IF_ERROR(read_metadata());
  CLVET_RETURN_IF_ERROR(read_alignment());
  CLVET_RETURN_IF_ERROR(read_tensors());
  CLVET_RETURN_IF_ERROR(place_tensors());
  return std::move(file_);
}

Status GgufParser::read_header() {
  const Where where{"header", {}};
  if (file_.bytes_.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: the file is empty; fetch it again", file_.name_);
  }
  const auto magic = read<uint32_t>(where);
  if (!magic || *magic != kGgufMagic) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: not a GGUF file (it does not begin with GGUF); give another file",
                file_.name_);
  }
  CLVET_ASSIGN_OR_RETURN(const uint32_t version, read<uint32_t>(where));
  if (version != 2 && version != 3) {
    const bool swapped = version == 0x02000000 || version == 0x03000000;
    return fail(ErrorCode::kUnsupported,
                "{}: {}; convert the model again as a little-endian file of version 3", file_.name_,
                swapped
                    ? std::string("the file is big-endian")
                    : fmt::format("GGUF version {} is not supported, only 2 and 3 are", version));
  }
  file_.version_ = static_cast<int>(version);
  CLVET_ASSIGN_OR_RETURN(tensor_count_, read_count(kLeastTensor, {"tensor count", {}}));
  CLVET_ASSIGN_OR_RETURN(pair_count_, read_count(kLeastPair, {"metadata count", {}}));
  return {};
}

Result<size_t> GgufParser::read_count(size_t least, const Where& where) {
  CLVET_ASSIGN_OR_RETURN(const uint64_t count, read<uint64_t>(where));
  if (count > remaining() / least) {
    return broken(where, "{} of them do not fit into the {} bytes that follow", count, remaining());
  }
  return static_cast<size_t>(count);
}

Result<std::string_view> GgufParser::read_string(const Where& where) {
  CLVET_ASSIGN_OR_RETURN(const uint64_t length, read<uint64_t>(where));
  if (length > remaining()) {
    return broken(where, "a string should have {} bytes, but only {} follow", length, remaining());
  }
  const auto* text = reinterpret_cast<const char*>(file_.bytes_.data() + at_);
  at_ += static_cast<size_t>(length);
  return std::string_view(text, static_cast<size_t>(length));
}

Result<std::string_view> GgufParser::read_name(const Where& where, size_t longest) {
  CLVET_ASSIGN_OR_RETURN(const std::string_view name, read_string(where));
  if (name.empty()) return broken(where, "its name is empty");
  if (name.size() > longest) {
    return broken(where, "its name has {} bytes, but at most {} are allowed", name.size(), longest);
  }
  if (clean_utf8(name) != name || name.find_first_of("\n\t") != std::string_view::npos) {
    return broken(where, "its name '{}' is not valid UTF-8 or contains control characters",
                  one_line(name, 100));
  }
  return name;
}

Result<GgufKind> GgufParser::read_kind(const Where& where) {
  CLVET_ASSIGN_OR_RETURN(const uint32_t number, read<uint32_t>(where));
  const auto kind = static_cast<GgufKind>(number);
  if (size_of(kind) == 0 && kind != GgufKind::kString && kind != GgufKind::kArray) {
    return broken(where, "value type {} is not known", number);
  }
  return kind;
}

Status GgufParser::read_metadata() {
  for (size_t i = 0; i < pair_count_; ++i) CLVET_RETURN_IF_ERROR(read_pair(i));
  return {};
}

Status GgufParser::read_pair(size_t index) {
  const std::string ordinal = fmt::format("metadata pair {}", index);
  CLVET_ASSIGN_OR_RETURN(const std::string_view key, read_name({ordinal.c_str(), {}}, kLongestKey));
  const Where where{"metadata key", key};
  CLVET_ASSIGN_OR_RETURN(const GgufKind kind, read_kind(where));
  CLVET_ASSIGN_OR_RETURN(GgufValue value, read_value(kind, where));
  if (!file_.metadata_.add(key, std::move(value))) return broken(where, "it appears twice");
  return {};
}

Result<GgufValue> GgufParser::read_value(GgufKind kind, const Where& where) {
  if (kind == GgufKind::kString) {
    CLVET_ASSIGN_OR_RETURN(const std::string_view text, read_string(where));
    return GgufValue{kind, text};
  }
  if (kind == GgufKind::kArray) {
    CLVET_ASSIGN_OR_RETURN(GgufArray array, read_array(where, 1));
    return GgufValue{kind, std::move(array)};
  }
  const size_t size = size_of(kind);
  if (remaining() < size) return cut_short(where);
  const std::byte* bytes = file_.bytes_.data() + at_;
  if (kind == GgufKind::kBool && static_cast<uint8_t>(*bytes) > 1) {
    return broken(where, "a boolean is neither 0 nor 1");
  }
  at_ += size;
  return decode_number(kind, bytes);
}

Result<GgufArray> GgufParser::read_array(const Where& where, int depth) {
  if (depth > kMaxDepth) return broken(where, "arrays are nested deeper than {} levels", kMaxDepth);
  GgufArray array;
  CLVET_ASSIGN_OR_RETURN(array.element, read_kind(where));
  const size_t least = array.element == GgufKind::kString  ? kLeastString
                       : array.element == GgufKind::kArray ? kLeastArray
                                                           : size_of(array.element);
  CLVET_ASSIGN_OR_RETURN(array.count, read_count(least, where));
  CLVET_RETURN_IF_ERROR(read_elements(array, where, depth));
  return array;
}

Status GgufParser::read_elements(GgufArray& array, const Where& where, int depth) {
  if (array.element == GgufKind::kString) {
    array.strings.reserve(array.count);
    for (size_t i = 0; i < array.count; ++i) {
      CLVET_ASSIGN_OR_RETURN(const std::string_view text, read_string(where));
      array.strings.push_back(text);
    }
  } else if (array.element == GgufKind::kArray) {
    array.arrays.reserve(array.count);
    for (size_t i = 0; i < array.count; ++i) {
      CLVET_ASSIGN_OR_RETURN(GgufArray inner, read_array(where, depth + 1));
      array.arrays.push_back(std::move(inner));
    }
  } else {
    array.numbers = file_.bytes_.subspan(at_, array.count * size_of(array.element));
    at_ += array.numbers.size();
  }
  return {};
}

Status GgufParser::read_alignment() {
  CLVET_ASSIGN_OR_RETURN(
      const int64_t alignment,
      file_.metadata_.integer_or("general.alignment", 32, 1, static_cast<int64_t>(kMaxAlignment)));
  alignment_ = static_cast<size_t>(alignment);
  if (alignment_ % 8 != 0) {
    return broken({"metadata key", "general.alignment"}, "{} is not a multiple of 8", alignment_);
  }
  return {};
}

Status GgufParser::read_tensors() {
  file_.tensors_.reserve(tensor_count_);
  for (size_t i = 0; i < tensor_count_; ++i) CLVET_RETURN_IF_ERROR(read_tensor(i));
  return {};
}

Status GgufParser::read_tensor(size_t index) {
  const std::string ordinal = fmt::format("tensor number {}", index);
  GgufTensor tensor;
  CLVET_ASSIGN_OR_RETURN(tensor.name, read_name({ordinal.c_str(), {}}, kLongestTensorName));
  const Where where{"tensor", tensor.name};
  CLVET_RETURN_IF_ERROR(read_shape(tensor));
  CLVET_ASSIGN_OR_RETURN(const uint32_t type, read<uint32_t>(where));
  tensor.type = find_block_type(type);
  if (!tensor.type) {
    return fail(ErrorCode::kUnsupported,
                "{}: tensor '{}' has the unknown type {}; quantise the model as one of {}",
                file_.name_, tensor.name, type, readable_block_types());
  }
  CLVET_RETURN_IF_ERROR(size_tensor(tensor));
  CLVET_RETURN_IF_ERROR(read_offset(tensor));
  if (!file_.index_.emplace(tensor.name, index).second) {
    return broken(where, "there are two tensors with this name");
  }
  file_.tensors_.push_back(std::move(tensor));
  return {};
}

Status GgufParser::read_offset(GgufTensor& tensor) {
  const Where where{"tensor", tensor.name};
  CLVET_ASSIGN_OR_RETURN(const uint64_t offset, read<uint64_t>(where));
  if (offset % alignment_ != 0) {
    return broken(where, "its offset {} is not a multiple of {}", offset, alignment_);
  }
  if (offset > file_.bytes_.size()) {
    return broken(where, "its offset {} is beyond the file's {} bytes", offset,
                  file_.bytes_.size());
  }
  tensor.offset = static_cast<size_t>(offset);
  return {};
}

Status GgufParser::read_shape(GgufTensor& tensor) {
  const Where where{"tensor", tensor.name};
  CLVET_ASSIGN_OR_RETURN(const uint32_t dims, read<uint32_t>(where));
  if (dims == 0 || dims > kMaxDims) {
    return broken(where, "it has {} dimensions, but must have 1 to {}", dims, kMaxDims);
  }
  for (uint32_t i = 0; i < dims; ++i) {
    CLVET_ASSIGN_OR_RETURN(const uint64_t extent, read<uint64_t>(where));
    if (extent == 0 || extent > static_cast<uint64_t>(INT64_MAX)) {
      return broken(where, "its dimension {} has the extent {}, which is not allowed", i, extent);
    }
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }
  return {};
}

Status GgufParser::size_tensor(GgufTensor& tensor) {
  const Where where{"tensor", tensor.name};
  const BlockType& type = *tensor.type;
  if (tensor.columns() % type.elements != 0) {
    return broken(where, "its rows of {} elements are not whole blocks of {} ({} elements)",
                  tensor.columns(), type.name, type.elements);
  }
  int64_t bytes = 0;
  bool overflow = __builtin_mul_overflow(tensor.columns() / type.elements, type.bytes, &bytes);
  for (size_t i = 1; i < tensor.shape.size(); ++i) {
    overflow = overflow || __builtin_mul_overflow(bytes, tensor.shape[i], &bytes);
  }
  if (overflow || static_cast<uint64_t>(bytes) > file_.bytes_.size()) {
    return broken(where, "its extents {} with the type {} need more than the file's {} bytes",
                  describe_shape(tensor.shape), type.name, file_.bytes_.size());
  }
  tensor.bytes = static_cast<size_t>(bytes);
  return {};
}

// Offsets count from the first aligned byte after the table.
Status GgufParser::place_tensors() {
  const size_t start = (at_ + alignment_ - 1) / alignment_ * alignment_;
  const size_t size = file_.bytes_.size();
  for (GgufTensor& tensor : file_.tensors_) {
    const bool fits = start <= size && tensor.offset <= size - start &&
                      tensor.bytes <= size - start - tensor.offset;
    if (!fits) {
      return broken({"tensor", tensor.name},
                    "its {} bytes at offset {} reach beyond the file's {} bytes", tensor.bytes,
                    tensor.offset, size);
    }
    tensor.offset += start;
  }
  return check_overlaps();
}

Status GgufParser::check_overlaps() const {
  std::vector<const GgufTensor*> order;
  order.reserve(file_.tensors_.size());
  for (const GgufTensor& tensor : file_.tensors_) order.push_back(&tensor);
  std::sort(order.begin(), order.end(),
            [](const GgufTensor* a, const GgufTensor* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->offset + order[i - 1]->bytes > order[i]->offset) {
      return broken({"tensor", order[i]->name}, "its bytes overlap those of '{}'",
                    order[i - 1]->name);
    }
  }
  return {};
}

}  // namespace clvet
