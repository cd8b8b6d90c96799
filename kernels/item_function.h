// The item of a kernel as a function, which PoCL compiles once and the kernel three times. Pure.
#pragma once

#include <string>

namespace clvet {

// A kernel's text whose kernel stands behind ALONE (kernels/common/types.clh), as drivers get it:
// with the kernel under ITEM_KERNEL, and at the end, for where that makes a function of it, a
// kernel of the same name and parameters that calls the function. The function gets the item's
// place before the parameters; get_global_id(0 to 2) and get_global_size(0) are these. Lines keep
// their numbers. A word of capitals before or in place of a parameter stands for others; those
// words with _NAMES behind them stand for their names. Other texts come back as they are.
std::string with_item_function(std::string text);

}  // namespace clvet
