// Reads the bytes of a GGUF file front to back.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/numbers.h"  // IWYU pragma: keep: a template of ours calls load
#include "base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/metadata.h"

namespace clvet {

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, const std::string& name);
  Result<GgufFile> parse();

 private:
  // What is being read, for messages: "metadata key 'x'".
  struct Where {
    const char* what;
    std::string_view name;
  };

  Status read_header();
  Status read_metadata();
  Status read_pair(size_t index);
  Status read_tensors();
  Status read_tensor(size_t index);
  Status read_shape(GgufTensor& tensor);
  Status read_offset(GgufTensor& tensor);
  Status size_tensor(GgufTensor& tensor);
  Status read_alignment();
  Status place_tensors();
  Status check_overlaps() const;

  Result<GgufValue> read_value(GgufKind kind, const Where& where);
  Result<GgufArray> read_array(const Where& where, int depth);
  Status read_elements(GgufArray& array, const Where& where, int depth);
  Result<std::string_view> read_string(const Where& where);
  // A name: not empty, short, valid UTF-8 without control characters.
  Result<std::string_view> read_name(const Where& where, size_t longest);
  // A count of things that take `least` bytes each at least.
  Result<size_t> read_count(size_t least, const Where& where);
  Result<GgufKind> read_kind(const Where& where);

  size_t remaining() const { return file_.bytes_.size() - at_; }
  tl::unexpected<Error> cut_short(const Where& where) const;
  template <class... Args>
  tl::unexpected<Error> broken(const Where& where, fmt::format_string<Args...> text,
                               Args&&... args) const {
    return fault(where, fmt::format(text, std::forward<Args>(args)...));
  }
  tl::unexpected<Error> fault(const Where& where, const std::string& text) const;

  template <class T>
  Result<T> read(const Where& where) {
    if (remaining() < sizeof(T)) return cut_short(where);
    at_ += sizeof(T);
    return load<T>(file_.bytes_.data() + at_ - sizeof(T));
  }

  GgufFile file_;
  size_t at_ = 0;
  size_t tensor_count_ = 0, pair_count_ = 0, alignment_ = 32;
};

}  // namespace clvet
