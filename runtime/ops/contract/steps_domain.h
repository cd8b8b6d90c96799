// The domain of operators that no model has: readers and steps make them.
#pragma once

#include <string_view>

namespace clvet {

inline constexpr std::string_view kStepsDomain = "clvet.steps";
// Input 0 with so many axes of extent 1 behind its own that its first axis is that one of input 1
// which the attribute axis names. A single element has one axis.
inline constexpr std::string_view kAlignedToAxis = "AlignedToAxis";

}  // namespace clvet
