#include "runtime/precision/answer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/output_sign.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

std::vector<DiagnosedOutput> compare_outputs(const std::map<std::string, Tensor>& outputs,
                                             const std::map<std::string, Tensor>& reference) {
  std::vector<DiagnosedOutput> rows;
  for (const auto& [name, wanted] : reference) {
    const auto found = outputs.find(name);
    if (found == outputs.end() || wanted.dtype() != DType::kF32) continue;
    DiagnosedOutput row;
    row.name = name;
    row.deviation.add(found->second.values<float>(), wanted.values<float>());
    row.sign = sign_of(found->second);
    if (row.sign == sign_of(wanted)) row.sign = OutputSign::kNone;
    rows.push_back(std::move(row));
  }
  return rows;
}

bool all_right(const std::vector<DiagnosedOutput>& outputs, double target) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const DiagnosedOutput& row) {
    const bool chosen = !row.choices || row.choices->right == row.choices->of;
    return chosen && row.deviation.part() <= target;
  });
}

}  // namespace clvet
