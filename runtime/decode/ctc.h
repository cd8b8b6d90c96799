// Text from the scores of a recognition network (CTC, greedy).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct DecodedText {
  std::string text;  // UTF-8
  double score = 0;  // mean of the kept steps' scores; 0 for an empty text
};

// The characters of the classes from 1 on, as the model's metadata `character` lists them, one a
// line, and a space after them; class 0 is the blank. kNotFound where the model has no such entry.
Result<std::vector<std::string>> ctc_characters(const Graph& graph);

// One text for each row of `scores` f32 [N,T,C]: of each step the best class, without repeats and
// blanks. kInvalidArgument where the shape is another or C is not one more than the characters.
Result<std::vector<DecodedText>> decode_ctc(const Tensor& scores,
                                            const std::vector<std::string>& characters);

}  // namespace clvet
