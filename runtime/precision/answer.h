// Whether a network's outputs are right, beside a reference.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

// Each float32 output beside the reference's.
std::vector<DiagnosedOutput> compare_outputs(const std::map<std::string, Tensor>& outputs,
                                             const std::map<std::string, Tensor>& reference);

// Whether no output is lost, each deviates by `target` of its size at most, and a language model
// chooses the reference's tokens.
bool all_right(const std::vector<DiagnosedOutput>& outputs, double target);

}  // namespace clvet
