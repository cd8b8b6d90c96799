// The domain of operators that no model has: readers, passes and steps make them.
#pragma once

#include <string_view>

namespace clvet {

inline constexpr std::string_view kStepsDomain = "clvet.steps";
// Input 0 with so many axes of extent 1 behind its own that its first axis is that one of input 1
// which the attribute axis names. A single element has one axis.
inline constexpr std::string_view kAlignedToAxis = "AlignedToAxis";
// Input 0 [N, C, H, W] times a gate for each channel of each image: of the means of its
// channels two layers, with filters [M, C, 1, 1] and [C, M, 1, 1] (inputs 1 and 2) and perhaps
// biases (3 and 4), and behind each an activation: attributes squeeze_act, squeeze_act_lo,
// squeeze_act_hi and gate_act...
inline constexpr std::string_view kSqueezeExcite = "SqueezeExcite";
// A convolution of input 0 [N, C, H, W] by filters [M, C, 1, 1] (input 1) and perhaps a bias (2),
// to which input 3 of the output's shape is added.
inline constexpr std::string_view kConvAdd = "ConvAdd";
// A depthwise convolution of input 0 [N, C, H, W] by filters [C, 1, KH, KW] (input 1) and perhaps a
// bias (2), with that convolution's attributes, an activation (middle_act, middle_act_lo,
// middle_act_hi), and a convolution by filters [M, C, 1, 1] (3) and perhaps a bias (4), to which
// input 5, where there is one, of the output's shape is added.
inline constexpr std::string_view kDepthwisePair = "DepthwisePair";
// Two convolutions of input 0 [N, C, H, W] whose channels are joined: by filters [P, C, 1, 1]
// (input 1) and perhaps a bias (2), without a border, and by filters [M, C, KH, KW] (3) and perhaps
// a bias (4). The attributes are the second one's; the first one has its strides.
inline constexpr std::string_view kConvBranches = "ConvBranches";

// Levels: the quantised numbers of a tensor, kept as floats. Those of 8 and 16 bits are exact.
//
// Of input 0 under the scale and the zero point that inputs 1 and 2 are: what QuantizeLinear makes,
// `lo` and `hi` being the least and the largest number. Attribute kind: 0 the level itself, 1 less
// the zero point, 2 and times the scale, which is DequantizeLinear of it.
inline constexpr std::string_view kLevels = "Levels";
// Integers as floats of the same value, and floats that are levels as integers of type `to`.
inline constexpr std::string_view kAsFloats = "AsFloats";
inline constexpr std::string_view kAsIntegers = "AsIntegers";
// The largest and the smallest element of input 0 and 0, as two floats; and of such a pair the
// scale and the zero point of the 256 levels between them.
inline constexpr std::string_view kLevelExtremes = "LevelExtremes";
inline constexpr std::string_view kLevelScale = "LevelScale";
inline constexpr std::string_view kLevelZero = "LevelZero";
// ConvInteger and MatMulInteger whose exact sums, to which the integers of input 4 are added,
// become floats.
inline constexpr std::string_view kConvSums = "ConvSums";
inline constexpr std::string_view kMatMulSums = "MatMulSums";

}  // namespace clvet
