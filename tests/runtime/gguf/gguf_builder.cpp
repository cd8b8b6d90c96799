#include "tests/runtime/gguf/gguf_builder.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/file.h"
#include "runtime/gguf/metadata.h"

namespace clvet::test {

std::string gguf_string(std::string_view text) {
  return raw(uint64_t{text.size()}) + std::string(text);
}

std::string gguf_kind(GgufKind kind) { return raw(static_cast<uint32_t>(kind)); }

std::string gguf_u32(uint32_t value) { return gguf_kind(GgufKind::kU32) + raw(value); }

std::string gguf_f32(float value) { return gguf_kind(GgufKind::kF32) + raw(value); }

std::string gguf_bool(bool value) {
  return gguf_kind(GgufKind::kBool) + raw(static_cast<uint8_t>(value));
}

std::string gguf_text(std::string_view text) {
  return gguf_kind(GgufKind::kString) + gguf_string(text);
}

std::string gguf_array(GgufKind element, uint64_t count, const std::string& elements) {
  return gguf_kind(GgufKind::kArray) + gguf_kind(element) + raw(count) + elements;
}

std::string gguf_texts(const std::vector<std::string>& texts) {
  std::string elements;
  for (const std::string& text : texts) elements += gguf_string(text);
  return gguf_array(GgufKind::kString, texts.size(), elements);
}

std::string gguf_floats(const std::vector<float>& values) {
  std::string elements;
  for (const float value : values) elements += raw(value);
  return gguf_array(GgufKind::kF32, values.size(), elements);
}

std::string gguf_ints(const std::vector<int32_t>& values) {
  std::string elements;
  for (const int32_t value : values) elements += raw(value);
  return gguf_array(GgufKind::kI32, values.size(), elements);
}

GgufBuilder& GgufBuilder::put(const std::string& key, const std::string& value) {
  for (Pair& pair : pairs) {
    if (pair.key == key) {
      pair.value = value;
      return *this;
    }
  }
  pairs.push_back({key, value});
  return *this;
}

GgufBuilder& GgufBuilder::tensor(const std::string& name, const std::vector<uint64_t>& shape,
                                 uint32_t type, const std::string& data) {
  uint64_t offset = 0;
  if (!tensors.empty()) {
    offset = tensors.back().offset + tensors.back().data.size();
    offset = (offset + alignment - 1) / alignment * alignment;
  }
  tensors.push_back({name, shape, type, offset, data});
  return *this;
}

GgufBuilder& GgufBuilder::zeros(const std::string& name, const std::vector<uint64_t>& shape,
                                std::string_view type) {
  const BlockType& row = *find_block_type(type);
  uint64_t elements = 1;
  for (const uint64_t extent : shape) elements *= extent;
  const auto blocks = elements / static_cast<uint64_t>(row.elements);
  return tensor(name, shape, row.id, std::string(blocks * static_cast<uint64_t>(row.bytes), 0));
}

GgufBuilder::TensorRow* GgufBuilder::find(const std::string& name) {
  for (TensorRow& row : tensors) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string GgufBuilder::header() const {
  return "GGUF" + raw(version) + raw(uint64_t{tensors.size()}) + raw(uint64_t{pairs.size()});
}

std::string GgufBuilder::metadata() const {
  std::string text;
  for (const Pair& pair : pairs) text += gguf_string(pair.key) + pair.value;
  return text;
}

std::string GgufBuilder::table() const {
  std::string text;
  for (const TensorRow& row : tensors) {
    text += gguf_string(row.name) + raw(static_cast<uint32_t>(row.shape.size()));
    for (const uint64_t extent : row.shape) text += raw(extent);
    text += raw(row.type) + raw(row.offset);
  }
  return text;
}

std::string GgufBuilder::bytes() const {
  std::string text = header() + metadata() + table();
  const auto pad = [&] { text.resize((text.size() + alignment - 1) / alignment * alignment); };
  pad();
  const size_t start = text.size();
  for (const TensorRow& row : tensors) {
    if (text.size() < start + row.offset) text.resize(start + row.offset);
    text += row.data;
  }
  return text;
}

Result<GgufFile> parse_gguf(const std::string& bytes) {
  return GgufFile::parse(std::as_bytes(std::span(bytes)), "test.gguf");
}

}  // namespace clvet::test
