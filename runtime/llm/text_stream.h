// Tokens to text as they come, whole characters only.
#pragma once

#include <string>

#include "runtime/llm/tokenizer.h"
#include "runtime/llm/vocabulary.h"

namespace clvet {

struct TextStreamOptions {
  bool control = false;  // write the names of control tokens
  // The text begins here: the space that SentencePiece puts before it is left out.
  bool at_start = false;
};

// What push() and finish() return is, joined, the text of all tokens; each piece is valid UTF-8. A
// character that is spread over tokens comes with its last byte; bytes that are no UTF-8 become
// U+FFFD, one for each. Control characters that a model writes pass: terminals are the caller's.
class TextStream {
 public:
  // The tokenizer must outlive the stream.
  explicit TextStream(const Tokenizer& tokenizer, TextStreamOptions options = {});
  std::string push(TokenId id);
  // What is left of a character that was begun; the stream then starts anew.
  std::string finish();

 private:
  std::string take(bool all);

  const Tokenizer& tokenizer_;
  TextStreamOptions options_;
  bool strip_space_ = false;
  std::string pending_;  // empty, or the beginning of a character
};

}  // namespace clvet
