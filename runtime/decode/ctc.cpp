#include "runtime/decode/ctc.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

DecodedText decode_row(const float* scores, int64_t steps, int64_t classes,
                       const std::vector<std::string>& characters) {
  DecodedText out;
  double sum = 0;
  int kept = 0;
  int64_t last = 0;
  for (int64_t t = 0; t < steps; ++t, scores += classes) {
    const int64_t best = std::max_element(scores, scores + classes) - scores;
    if (best != 0 && best != last) {
      out.text += characters[static_cast<size_t>(best - 1)];
      sum += static_cast<double>(scores[best]);
      ++kept;
    }
    last = best;
  }
  out.score = kept ? sum / kept : 0;
  return out;
}

}  // namespace

Result<std::vector<std::string>> ctc_characters(const Graph& graph) {
  const auto entry = graph.metadata.find("character");
  if (entry == graph.metadata.end()) {
    return fail(
        ErrorCode::kNotFound,
        "the model's metadata has no 'character' list, so its output cannot be decoded as text");
  }
  std::vector<std::string> characters;
  for (const std::string& line : split(entry->second, '\n')) {
    characters.push_back(clean_utf8(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line));
  }
  if (!characters.empty() && characters.back().empty()) characters.pop_back();
  characters.emplace_back(" ");
  return characters;
}

Result<std::vector<DecodedText>> decode_ctc(const Tensor& scores,
                                            const std::vector<std::string>& characters) {
  const auto classes = static_cast<int64_t>(characters.size()) + 1;
  if (scores.dtype() != DType::kF32 || scores.rank() != 3 || scores.dim(2) != classes) {
    return fail(
        ErrorCode::kInvalidArgument,
        "an output {} cannot be decoded as text: {} characters and the blank need f32[N,T,{}]",
        to_string(scores.type()), characters.size(), classes);
  }
  std::vector<DecodedText> texts;
  const int64_t steps = scores.dim(1);
  for (int64_t n = 0; n < scores.dim(0); ++n) {
    const float* row = scores.data<float>() + n * steps * classes;
    texts.push_back(decode_row(row, steps, classes, characters));
  }
  return texts;
}

}  // namespace clvet
