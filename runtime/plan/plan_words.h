// The words that the JSON form of a plan has for enumerations, in their order.
#pragma once

#include <array>

namespace clvet::plan_words {

inline constexpr const char* kSchema = "clvet.plan/1";

inline constexpr std::array kPlaces = {"host", "opencl", "alias"};
inline constexpr std::array kRows = {"fixed", "of-step", "of-text"};
inline constexpr std::array kSources = {"zeros", "node", "matrix", "vector"};
inline constexpr std::array kSteps = {"upload", "download", "kernel", "host"};
inline constexpr std::array kStorages = {"buffer", "image"};

}  // namespace clvet::plan_words
