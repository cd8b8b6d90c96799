// Writes GGUF files for tests, right ones and others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/metadata.h"

namespace clvet::test {

// The bytes of a number, as the file has them.
template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string gguf_string(std::string_view text);
std::string gguf_kind(GgufKind kind);

// The values of metadata keys, kind first.
std::string gguf_u32(uint32_t value);
std::string gguf_f32(float value);
std::string gguf_bool(bool value);
std::string gguf_text(std::string_view text);
std::string gguf_array(GgufKind element, uint64_t count, const std::string& elements);
std::string gguf_texts(const std::vector<std::string>& texts);
std::string gguf_floats(const std::vector<float>& values);
std::string gguf_ints(const std::vector<int32_t>& values);

// A file put together from parts; each may be replaced before bytes() joins them.
struct GgufBuilder {
  struct Pair {
    std::string key, value;
  };
  struct TensorRow {
    std::string name;
    std::vector<uint64_t> shape;
    uint32_t type = 0;
    uint64_t offset = 0;
    std::string data;
  };

  uint32_t version = 3;
  uint64_t alignment = 32;
  std::vector<Pair> pairs;
  std::vector<TensorRow> tensors;

  // Replaces what the key had.
  GgufBuilder& put(const std::string& key, const std::string& value);
  // Lies behind those before it.
  GgufBuilder& tensor(const std::string& name, const std::vector<uint64_t>& shape, uint32_t type,
                      const std::string& data);
  // Of the right size, filled with zeros.
  GgufBuilder& zeros(const std::string& name, const std::vector<uint64_t>& shape,
                     std::string_view type = "F32");
  TensorRow* find(const std::string& name);

  std::string header() const;
  std::string metadata() const;
  std::string table() const;
  std::string bytes() const;
};

Result<GgufFile> parse_gguf(const std::string& bytes);

}  // namespace clvet::test
