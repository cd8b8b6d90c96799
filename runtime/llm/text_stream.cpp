#include "runtime/llm/text_stream.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

// Whether more bytes could make a character of `text`: the lowest or the highest ones would.
bool may_go_on(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || text.size() >= length) return false;
  for (const char filler : {'\x80', '\xBF'}) {
    std::string whole(text);
    whole.resize(length, filler);
    if (utf8_length(whole) == length) return true;
  }
  return false;
}

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, TextStreamOptions options)
    : tokenizer_(tokenizer),
      options_(options),
      strip_space_(options.at_start && tokenizer.vocabulary().space_prefix) {}

std::string TextStream::push(TokenId id) {
  std::string bytes = tokenizer_.bytes(id, options_.control);
  if (strip_space_ && !bytes.empty()) {
    if (bytes[0] == ' ') bytes.erase(0, 1);
    strip_space_ = false;
  }
  pending_ += bytes;
  return take(false);
}

std::string TextStream::finish() { return take(true); }

std::string TextStream::take(bool all) {
  std::string out;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const size_t length = utf8_length(rest);
    if (length > 0) {
      out += rest.substr(0, length);
    } else if (!all && may_go_on(rest)) {
      break;
    } else {
      out += "\xEF\xBF\xBD";
    }
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  pending_ = std::string(rest);
  return out;
}

}  // namespace clvet
