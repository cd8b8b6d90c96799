// A GGUF file, mapped read-only: its metadata and where each tensor lies. Tensor bytes are touched
// by whoever reads them, never by opening.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/metadata.h"

namespace clvet {

struct GgufTensor {
  std::string_view name;
  const BlockType* type = nullptr;
  std::vector<int64_t> shape;  // as the file has it: the length of a row first
  size_t bytes = 0;
  size_t offset = 0;  // from the start of the file

  int64_t columns() const { return shape.front(); }
  int64_t rows() const;  // of all further dims
};

// "576x49152".
std::string describe_shape(std::span<const int64_t> shape);

class GgufFile {
 public:
  // Opens and maps `path`. The file must keep its bytes while it is open: one that is cut short
  // meanwhile ends the process when it is read (SIGBUS), as with every mapping.
  //
  // Versions 2 and 3, little-endian. Every count, length, offset and product is checked against
  // the file's size before it is used, so that what is allocated stays within a small multiple of
  // that size. kNotFound: cannot be opened; kUnsupported: a version, byte order or tensor type that
  // is not known; kInvalidArgument: not a GGUF file, or a broken one. Messages name the file, the
  // key or tensor, the fault and what to do.
  static Result<GgufFile> open(const std::string& path);
  // The same for bytes in memory, which must outlive the result; `name` stands for the file.
  static Result<GgufFile> parse(std::span<const std::byte> bytes, const std::string& name);

  const std::string& name() const { return name_; }
  int version() const { return version_; }
  size_t size() const { return bytes_.size(); }
  const GgufMetadata& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }  // in the file's order
  const GgufTensor* find(std::string_view tensor) const;               // nullptr: there is none
  std::span<const std::byte> data(const GgufTensor& tensor) const {
    return bytes_.subspan(tensor.offset, tensor.bytes);
  }

 private:
  friend class GgufParser;
  GgufFile() = default;

  std::string name_;
  Mapping mapping_;
  std::span<const std::byte> bytes_;
  int version_ = 0;
  GgufMetadata metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, size_t> index_;
};

}  // namespace clvet
