// Text from the scores of a recognition network (CTC, greedy).
#pragma once

#include <clvet/clvet.h>

#include <span>
#include <string>
#include <vector>

namespace ocr {

struct DecodedText {
  std::string text;  // UTF-8
  double score = 0;  // mean of the kept steps' scores; 0 for an empty text
};

// The characters of the classes from 1 on, as `character` of the network's metadata lists them, one
// a line, and a space after them; class 0 is the blank.
clvet::Result<std::vector<std::string>> read_characters(const clvet::Session& recogniser);

// The text of one line, whose `scores` are steps of characters.size() + 1 classes: of each step the
// best class, without repeats and blanks.
DecodedText decode_line(std::span<const float> scores, const std::vector<std::string>& characters);

}  // namespace ocr
