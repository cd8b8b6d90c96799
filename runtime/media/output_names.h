// Names of files for the outputs of a model, whose own names may hold anything.
#pragma once

#include <string>
#include <vector>

namespace clvet {

// A name that ends in .npy for each of `outputs`, in their order, no two of them alike, with
// letters, digits, '_' and '-' alone and at most 110 bytes. What an output's name has beyond these
// becomes '_'; where two would then be alike (also without regard to case), the later ones get a
// number.
std::vector<std::string> npy_names(const std::vector<std::string>& outputs);

}  // namespace clvet
