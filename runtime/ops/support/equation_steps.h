// An Einsum as steps.
#pragma once

#include <vector>

#include "runtime/ops/support/steps.h"

namespace clvet {

// Operands are joined two at a time: by MatMul where axes are summed, else by Mul, and by both
// ReduceSum and Mul where every axis of theirs is shared. No steps where an operand takes a
// diagonal or has no elements.
std::vector<Term> equation_steps(Steps& s);

}  // namespace clvet
