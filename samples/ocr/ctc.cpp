#include "ctc.h"

#include <clvet/clvet.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ocr {

clvet::Result<std::vector<std::string>> read_characters(const clvet::Session& recogniser) {
  const auto metadata = recogniser.metadata();
  if (!metadata) return metadata.error();
  const auto entry = metadata->find("character");
  if (entry == metadata->end()) {
    return clvet::Error{clvet::ErrorCode::not_found,
                        "the model's metadata has no 'character' list, so its output cannot be "
                        "decoded as text; take PP-OCR's recognition network"};
  }
  std::vector<std::string> characters;
  std::istringstream lines(entry->second);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    characters.push_back(std::move(line));
  }
  characters.emplace_back(" ");
  return characters;
}

DecodedText decode_line(std::span<const float> scores, const std::vector<std::string>& characters) {
  const size_t classes = characters.size() + 1;
  DecodedText out;
  int kept = 0;
  size_t last = 0;
  for (; scores.size() >= classes; scores = scores.subspan(classes)) {
    const auto step = scores.first(classes);
    const auto best =
        static_cast<size_t>(std::max_element(step.begin(), step.end()) - step.begin());
    if (best != 0 && best != last) {
      out.text += characters[best - 1];
      out.score += static_cast<double>(step[best]);
      ++kept;
    }
    last = best;
  }
  if (kept) out.score /= kept;
  return out;
}

}  // namespace ocr
